"""AWS as functions use it: clients, the runs table, files in S3, events, a function's settings."""

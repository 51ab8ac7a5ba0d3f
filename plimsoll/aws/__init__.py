"""AWS for functions: clients, the runs table, files in S3, and events."""

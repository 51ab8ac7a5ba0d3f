"""The web page: what it shows of runs while they go on, and its own files."""

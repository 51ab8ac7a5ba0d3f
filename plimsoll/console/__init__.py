"""The page in the browser: what it is told of runs as they go on, and its own files."""

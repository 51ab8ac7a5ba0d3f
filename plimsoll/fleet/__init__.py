"""Planning clients, the start barrier, one client's run, and merging their results."""

"""Data models: requests, steps, results. No I/O. All other packages depend on this one."""

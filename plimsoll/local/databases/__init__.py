"""Private database servers: finding or fetching programs, starting and removing servers."""

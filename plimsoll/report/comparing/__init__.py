"""Two results beside each other."""

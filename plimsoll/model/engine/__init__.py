"""What the load engine is asked and what it answers."""

"""Real database servers of one's own: found or fetched, started, and gone with their owner."""

"""What is known of a run: its record, results, quote and fleet."""

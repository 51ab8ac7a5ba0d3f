"""What a run stores: its record, results, quote and fleet."""

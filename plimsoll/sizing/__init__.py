"""What to buy for a load: predicted from what a run measured. docs/sizing.md has the formulas."""

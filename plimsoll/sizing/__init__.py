"""What to buy for a load: predictions from a measured run. docs/sizing.md has the formulas.

It also observes the load of a production database, and compares it with a load line.
"""

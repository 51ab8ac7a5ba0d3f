"""What to buy for a load: predicted from what a run measured. docs/sizing.md has the formulas."""


# What production asks of its database today, and where it stands of its load line.

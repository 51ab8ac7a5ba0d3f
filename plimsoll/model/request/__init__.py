"""What users ask for: runs, targets, searches, phases, experiments, checks."""

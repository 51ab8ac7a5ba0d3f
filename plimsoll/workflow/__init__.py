"""What each state of a run's workflow does."""

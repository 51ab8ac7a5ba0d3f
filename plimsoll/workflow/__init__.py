"""The states of a run's workflow, one function each, and the start and listing of runs."""

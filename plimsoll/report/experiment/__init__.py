"""An experiment's page: its answer, its choice, its factorials."""

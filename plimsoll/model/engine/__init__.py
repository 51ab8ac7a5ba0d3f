"""The jobs and reports of the load engine."""

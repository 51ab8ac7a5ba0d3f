"""Statistics that know nothing of steps: intervals, trends, factorial effects."""

"""Statistics without knowledge of steps: intervals, trends, factorial effects."""

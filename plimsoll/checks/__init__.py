"""Checks: runs on a schedule, each judged against the history of those before it."""

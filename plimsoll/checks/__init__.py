"""Checks: scheduled runs, each judged against the history of earlier runs."""

"""Requests of users: runs, targets, searches, phases, experiments, checks."""

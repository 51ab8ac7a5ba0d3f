"""Experiments: matrices of runs, started, watched, stopped and concluded."""

"""Experiments: matrices of runs, which are started, watched, stopped and concluded."""

"""Finding the load line of an existing database from one process.

It uses a run's search, judge, engine and counters, but no AWS and no state machine.
"""

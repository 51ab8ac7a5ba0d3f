"""The load line of a database that is there already, found by this process alone.

No twin, no AWS and no state machine: the search, the judge, the engine and the counters of a run.
"""

"""The gate: counts of what each operation makes a server do, compared between two states.

Terms: a *state* is a schema, a server or a workload. A *copy* is a database of the gate's own with
a freshly loaded dataset. A *turn* measures one copy in one state. A *block* is a fixed number of
operations of one kind (or of the mix) within a turn, between two readings of the server's counters.
"""

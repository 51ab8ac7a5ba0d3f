"""Logs of statements, and dumps of counters, as the source of a workload.

`reading` recognizes what a file is and reads it once, from its beginning to its end: each format
has a module that makes `Event`s of its lines (`mysql`, `postgres`) or counts at once (`counters`).
`texts` takes the values out of a statement, `fold` counts, per kind of statement and session, in
memory that does not grow with the file. No value is kept.
"""

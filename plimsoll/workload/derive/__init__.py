"""A workload from what a server tells of the statements that it was sent.

`derived` is the whole of it: statements are read (`reading`), their values guessed from tables
(`columns`, `binds`), transactions put together again by counts (`grouping`), and what comes of it
is written as a workload (`document`), which the workload's own reader checks.
"""

"""Deriving a workload from a server's statement statistics.

`derived` does the whole: it reads statements (`reading`), guesses their values from the tables
(`columns`, `binds`), makes operations of the transactions that were seen (`grouping`) and writes a
workload (`document`), which is then checked like any other.
"""

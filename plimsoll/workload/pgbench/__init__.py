"""pgbench's scripts as workloads: read by a reader of their own, sent by the same engine."""

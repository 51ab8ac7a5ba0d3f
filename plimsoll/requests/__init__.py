"""Reading and checking requests, experiments and the workloads that they name."""

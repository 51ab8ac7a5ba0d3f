"""Reading and checking what users write: requests, experiments and the workloads they name."""

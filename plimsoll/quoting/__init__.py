"""Time and cost: what a request will take before anything is made, and what a run has cost."""

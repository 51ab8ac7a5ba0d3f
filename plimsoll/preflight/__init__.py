"""What can be checked about a run on AWS before it is submitted. Nothing is created."""

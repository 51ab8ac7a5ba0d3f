"""What can be known of a run on AWS before it is submitted: a table of checks, and nothing made."""

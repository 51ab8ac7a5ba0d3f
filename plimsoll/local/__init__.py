"""One machine as AWS: service APIs, Lambda sandboxes, databases and volumes."""

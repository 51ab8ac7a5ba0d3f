"""The clouds beside AWS: their volumes and instances. Nothing is provisioned there."""

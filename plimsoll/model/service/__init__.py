"""The responses of the API."""

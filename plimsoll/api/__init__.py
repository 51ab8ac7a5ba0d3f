"""The REST API: one function behind API Gateway, and behind `plimsoll serve` the very same."""

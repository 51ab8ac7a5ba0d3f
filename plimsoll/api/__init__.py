"""The REST API: the same function behind API Gateway and behind `plimsoll serve`."""

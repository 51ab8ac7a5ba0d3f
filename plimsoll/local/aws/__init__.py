"""AWS's service APIs on loopback: a moto server with corrections where it differs from AWS."""

ENDS_SINCE = "it ends: "  # in its log, before the reason; other threads may log after that

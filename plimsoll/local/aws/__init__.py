"""AWS's service APIs on loopback: a moto server with corrections where it differs from AWS."""

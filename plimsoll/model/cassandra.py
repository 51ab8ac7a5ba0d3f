"""The Cassandra that targets run: one version, on AWS as on one machine."""

# The newest of the series that today's users run. R2's 3.11.1 needs Java 8, and is out of support.
VERSION = "5.0.8"
CQL_PORT = 9042
KEYSPACE = "plimsoll"

"""Families of databases: what Plimsoll asks of a server, one folder for each wire protocol."""

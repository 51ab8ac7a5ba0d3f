"""Access to servers for everything but load; one package for each wire protocol."""

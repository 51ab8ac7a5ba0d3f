"""Calling the service over HTTP: signed, with time-outs, repeated only where that is safe."""

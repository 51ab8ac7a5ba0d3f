"""HTTP client of the service: signed, with time-outs, repeating only where that is safe."""

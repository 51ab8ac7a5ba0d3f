"""What Plimsoll speaks of: requests, steps, results. No I/O; everything else depends on it."""

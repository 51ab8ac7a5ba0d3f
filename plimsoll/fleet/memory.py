"""The memory of the process that a client runs in."""

import resource
import sys


def peak_memory_mib() -> float:
    """Return the peak memory of this process, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)

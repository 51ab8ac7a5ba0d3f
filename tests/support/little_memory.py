"""How much memory this process needs while something is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MORE_MAX_MIB = 64


@contextmanager
def little_memory() -> Iterator[None]:
    """See that this process needs less than 64 MiB more meanwhile, at any moment."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now on
    before = _peak_mib("VmRSS")
    yield
    assert _peak_mib("VmHWM") - before < MORE_MAX_MIB


def _peak_mib(name: str) -> float:
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024

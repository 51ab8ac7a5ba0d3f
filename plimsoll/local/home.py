"""Where a twin lives: in memory where its databases fit there, else on this machine's disk.

An emulated volume keeps its promises while the storage under it is faster than the volume. Memory
always is. On many disks a flush alone takes milliseconds; on EBS it takes next to nothing.
"""

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plimsoll.local.leftovers import HOME_PREFIX
from plimsoll.model.engine import EngineOperation
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.values import FormatValue, LiteralValue, PatternValue, TextValue, Value
from plimsoll.requests.request_workload import compiled_workload
from plimsoll.volumes.places import MEMORY

_MIB = 2**20
# Bytes on disk per byte of rows: half-filled pages, the log, copies while compacting or recovering.
_GROWTH = 4
_SERVER_BYTES = 1024 * _MIB  # what one database takes besides its rows
_SHARE = 0.5  # the share of free memory that a twin may use
_NUMBER_BYTES = 20


@contextmanager
def twin_home(
    requests: Iterable[Request], *, at_once: int = 1, parent: Path | None = None
) -> Iterator[Path]:
    """Make a folder for a twin, and remove it in the end.

    Args:
        requests: All that will run there; none: not known.
        at_once: How many of their databases run at the same time.
        parent: Where the folder lies; None: in memory if the databases fit into half of what is
            free, else in the folder for temporary files.
    """
    chosen = parent or (MEMORY if _fits(list(requests), at_once) else Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=HOME_PREFIX, dir=chosen) as home:
        yield Path(home)


def _fits(requests: list[Request], at_once: int) -> bool:
    sizes = [bytes_of(request) for request in requests]
    known = [size for size in sizes if size is not None]
    if not sizes or len(known) < len(sizes):
        return False
    needed = at_once * (_GROWTH * max(known) + _SERVER_BYTES)
    return takes_direct_io(MEMORY) and needed <= _SHARE * free_bytes(MEMORY)


def bytes_of(request: Request) -> int | None:
    """Estimate the bytes of a request's rows; None if its load inserts more."""
    if isinstance(request.target, EndpointTarget):
        return 0
    compiled = compiled_workload(request)
    if any(map(_grows, compiled.engine_workload().operations)):
        return None
    return sum(table.rows * sum(map(_width, table.row)) for table in compiled.tables)


def _grows(operation: EngineOperation) -> bool:
    """Say whether an operation may add rows: it does not if each INSERT follows a DELETE."""
    verbs = Counter(statement.sql[0].split(None, 1)[0] for statement in operation.statements)
    adding = verbs.total() - verbs["SELECT"] - verbs["UPDATE"] - verbs["DELETE"]
    return adding > verbs["DELETE"]


def _width(value: Value) -> int:
    """Give the most bytes that a value takes in a row."""
    match value:
        case TextValue():
            return value.length
        case PatternValue():
            return len(value.pattern)
        case FormatValue():
            return len(value.template) + sum(map(_width, value.of))
        case LiteralValue():
            return max(_NUMBER_BYTES, len(str(value.value)))
    return _NUMBER_BYTES


def takes_direct_io(folder: Path) -> bool:
    """See whether files there can be opened with O_DIRECT, as databases do (tmpfs: Linux 6.6)."""
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=folder) as probe:
        os.close(os.open(probe.name, os.O_RDWR | os.O_DIRECT))
        return True
    return False


def free_bytes(folder: Path) -> int:
    """Give how many bytes fit into a folder in memory without pushing anything else out."""
    on_it = os.statvfs(folder)
    lines = Path("/proc/meminfo").read_text().splitlines()
    available_kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return min(on_it.f_bavail * on_it.f_frsize, available_kib * 1024)

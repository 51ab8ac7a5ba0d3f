"""The folders of a twin and of its databases: in memory if they fit, otherwise on disk.

An emulated volume is accurate as long as the storage below is faster than the volume. Memory always
is. On many disks a flush takes milliseconds; on EBS almost nothing.
"""

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from plimsoll.local.leftovers import HOME_PREFIX, IN_MEMORY
from plimsoll.local.room import (
    load_adds_rows,
    read_available_memory_bytes,
    read_free_disk_bytes,
    require_room,
)
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.volumes.places import MEMORY, remove_abandoned

_MIB = 2**20
# Bytes on disk per byte of rows: half-filled pages, the log, copies while compacting or recovering.
_GROWTH = 4
_SERVER_BYTES = 1024 * _MIB  # what one database takes besides its rows
_SHARE = 0.5  # the share of free memory that a twin's databases may use


@contextmanager
def make_twin_home(
    requests: Iterable[CheckedRequest] = (), *, at_once: int = 1, parent: Path | None = None
) -> Iterator[Path]:
    """Make a folder for a twin, with one in memory beside it, and remove both at the end.

    Args:
        requests: The requests that will run there, as far as known.
        at_once: The number of their databases that run at the same time.
        parent: The parent folder for the twin and all its databases; None for the temporary folder,
            with those databases in memory that fit there (`Places`).

    Raises:
        PlimsollError: There is no room for what will run.
    """
    known = list(requests)
    on_disk = parent or Path(tempfile.gettempdir())
    in_memory = parent is None and takes_direct_io(MEMORY)
    fit = (
        known
        and in_memory
        and at_once * max(map(_estimate_most_bytes, known)) <= _measure_memory_share()
    )
    require_room(known, MEMORY if fit else on_disk, at_once=at_once)
    with ExitStack() as kept:
        kept.callback(remove_abandoned)  # the files in memory of databases whose folder is gone
        make = tempfile.TemporaryDirectory
        home = Path(kept.enter_context(make(prefix=HOME_PREFIX, dir=on_disk)))
        if in_memory:
            memory = kept.enter_context(make(prefix=HOME_PREFIX, dir=MEMORY))
            (home / IN_MEMORY).symlink_to(memory)
        yield home


def _estimate_most_bytes(checked: CheckedRequest) -> float:
    """Return an upper bound in bytes for a request's database; infinite if unknown."""
    if isinstance(checked.request.target, EndpointTarget):
        return 0
    if load_adds_rows(checked):
        return float("inf")
    return _GROWTH * checked.rows_bytes + _SERVER_BYTES


def _measure_memory_share() -> float:
    return _SHARE * min(read_free_disk_bytes(MEMORY), read_available_memory_bytes())


class Places:
    """Decides for each database of a twin whether it is in memory or on disk. Thread-safe."""

    def __init__(self, home: Path, request_of: Callable[[str], CheckedRequest | None]) -> None:
        """Use a twin's folders.

        Args:
            home: The twin's folder; without a folder in memory, all databases are on disk.
            request_of: The function that finds the request for which an instance is made, by its
                name.
        """
        self._disk = home / "databases"
        self._memory = home / IN_MEMORY / "databases" if (home / IN_MEMORY).is_dir() else None
        self._request_of = request_of
        self._held: dict[str, float] = {}  # upper bounds of the databases in memory, in bytes
        self._lock = threading.Lock()

    def choose(self, identifier: str) -> Path:
        """Return the folder for an instance that is about to be created.

        Raises:
            PlimsollError: There is no room for it.
        """
        request = self._request_of(identifier)
        with self._lock:
            if request is not None and self._memory is not None:
                most = _estimate_most_bytes(request)
                if sum(self._held.values()) + most <= _measure_memory_share():
                    self._held[identifier] = most
                    return self._memory / identifier
        if request is not None:
            self._disk.mkdir(parents=True, exist_ok=True)
            require_room([request], self._disk)
        return self._disk / identifier

    def give_back(self, identifier: str) -> None:
        """Release the memory that an instance held."""
        with self._lock:
            self._held.pop(identifier, None)


def takes_direct_io(folder: Path) -> bool:
    """Return whether files there open with O_DIRECT, as databases need it (tmpfs: Linux 6.6)."""
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=folder) as probe:
        os.close(os.open(probe.name, os.O_RDWR | os.O_DIRECT))
        return True
    return False

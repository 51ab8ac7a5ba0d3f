"""cassandra-driver as a process of its own, which imports no more than it needs.

`KIND HOST PORT KEYSPACE CQL IN_FLIGHT SECONDS ROWS` reads rows by key and prints how many. KIND is
`threads`, one for each read in flight, or `callbacks`, where each answer sends the next read.
"""

import itertools
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from cassandra.cluster import Cluster


@dataclass
class Reader:
    """What the reads share."""

    session: Any
    statement: Any
    rows: int
    end: float
    counter: "itertools.count[int]" = field(default_factory=itertools.count)
    over: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def key(self) -> tuple[int]:
        """Draws a key."""
        return (random.randrange(self.rows),)  # noqa: S311 - keys of a benchmark, no secret

    def read_on(self) -> None:
        """Reads until the end."""
        while time.monotonic() < self.end:
            self.session.execute(self.statement, self.key())
            next(self.counter)

    def send(self) -> None:
        """Sends a read, unless it is over."""
        if time.monotonic() >= self.end:
            self.over.release()
            return
        future = self.session.execute_async(self.statement, self.key())
        future.add_callbacks(self.answered, lambda _: self.over.release())

    def answered(self, _: object) -> None:
        """Counts a read, and sends the next one."""
        next(self.counter)
        self.send()


def main() -> None:
    """Reads until the time is over."""
    kind, host, port, keyspace, cql, in_flight, seconds, rows = sys.argv[1:]
    cluster: Any = Cluster([host], port=int(port), protocol_version=4)
    session = cluster.connect(keyspace)
    end = time.monotonic() + float(seconds)
    reader = Reader(session, session.prepare(cql), int(rows), end)
    if kind == "threads":
        threads = [threading.Thread(target=reader.read_on) for _ in range(int(in_flight))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        for _ in range(int(in_flight)):
            reader.send()
        for _ in range(int(in_flight)):
            reader.over.acquire()
    print(next(reader.counter))
    cluster.shutdown()


if __name__ == "__main__":
    main()

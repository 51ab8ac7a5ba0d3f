"""A Python client as a process of its own, which imports no more than it needs.

`engine` reads a `LoadSpec` from standard input and prints the `LoadReport`, then its memory.
`pymysql HOST PORT USER PASSWORD DATABASE THREADS SECONDS ROWS` reads rows by primary key, a
connection in each thread, and prints how many.
"""

import sys


def run_engine() -> None:
    """The engine, as `plimsoll load` runs it."""
    from pathlib import Path

    import plimsoll_engine

    print(plimsoll_engine.run(sys.stdin.read()))
    # the kernel's figure for a child process would count its parent's memory at the fork
    status = Path("/proc/self/status").read_text().splitlines()
    print(next(line for line in status if line.startswith("VmHWM")))


def run_pymysql(arguments: list[str]) -> None:
    """PyMySQL from threads."""
    import random
    import threading
    import time
    from typing import Any

    import pymysql

    host, port, user, password, database, threads, seconds, rows = arguments
    counts = [0] * int(threads)
    ready = threading.Barrier(int(threads))

    def read(index: int) -> None:
        connection: Any = pymysql.connect(
            host=host, port=int(port), user=user, password=password, database=database
        )
        ready.wait()
        end = time.monotonic() + float(seconds)
        with connection.cursor() as cursor:
            while time.monotonic() < end:
                key = random.randint(1, int(rows))  # noqa: S311 - keys of a benchmark, no secret
                cursor.execute("SELECT c FROM sbtest1 WHERE id=%s", (key,))
                cursor.fetchall()
                counts[index] += 1

    workers = [threading.Thread(target=read, args=(index,)) for index in range(int(threads))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(counts))


if __name__ == "__main__":
    if sys.argv[1] == "engine":
        run_engine()
    else:
        run_pymysql(sys.argv[2:])

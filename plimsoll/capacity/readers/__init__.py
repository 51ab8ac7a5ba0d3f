"""Readers of load generators' output: one module for each program, and a table of them.

One output is one step. The program is recognized from the text itself. To add a program, add a
module, a row here, a row in docs/capacity.md, and a sample in tests/unit/capacity/readers/.
"""

from collections.abc import Callable

from plimsoll.capacity.readers.go_ycsb import is_go_ycsb, read_go_ycsb
from plimsoll.capacity.readers.k6 import is_k6, read_k6
from plimsoll.capacity.readers.latte import is_latte, read_latte
from plimsoll.capacity.readers.pgbench import is_pgbench, read_pgbench
from plimsoll.capacity.readers.plimsoll_load import is_plimsoll_load, read_plimsoll_load
from plimsoll.capacity.readers.reading import Reading
from plimsoll.capacity.readers.sysbench import (
    is_sysbench,
    is_sysbench_json,
    read_sysbench,
    read_sysbench_json,
)
from plimsoll.capacity.readers.wrk2 import is_wrk2, read_wrk2
from plimsoll.capacity.readers.ycsb import is_ycsb, read_ycsb
from plimsoll.errors import UsageError

__all__ = ["PROGRAMS", "Reading", "read_text", "read_values"]

PROGRAMS = "YCSB, go-ycsb, sysbench, pgbench, wrk2, k6, latte"

OF_TEXT: tuple[tuple[Callable[[str], bool], Callable[[str, str], Reading]], ...] = (
    (is_ycsb, read_ycsb),
    (is_go_ycsb, read_go_ycsb),
    (is_sysbench, read_sysbench),
    (is_sysbench_json, read_sysbench_json),
    (is_pgbench, read_pgbench),
    (is_wrk2, read_wrk2),
)
OF_JSON: tuple[tuple[Callable[[object], bool], Callable[[object, str], Reading]], ...] = (
    (is_k6, read_k6),
    (is_latte, read_latte),
    (is_plimsoll_load, read_plimsoll_load),
)


def read_text(text: str, name: str) -> Reading | None:
    """Read the text output of a load generator; None if no known program wrote it.

    Raises:
        UsageError: The output cannot be read, or several programs wrote it.
    """
    found = [read for knows, read in OF_TEXT if knows(text)]
    if len(found) > 1:
        raise UsageError(f"{name}: outputs of several programs: one file is one step")
    return found[0](text, name) if found else None


def read_values(value: object, name: str) -> Reading | None:
    """Read the JSON output of a load generator; None if no known program wrote it.

    Raises:
        UsageError: The output cannot be read.
    """
    found = next((read for knows, read in OF_JSON if knows(value)), None)
    return found(value, name) if found else None

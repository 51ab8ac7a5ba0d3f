"""Readers of load generators' output: one module for each program, and a table of them.

One output is one step; a text may hold several. The program is recognized from the text itself. To
add a program, add a module, a row here, a row in docs/capacity.md, and a sample in
tests/unit/capacity/readers/.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.capacity.readers import go_ycsb, pgbench, sysbench, wrk2, ycsb
from plimsoll.capacity.readers.k6 import is_k6, read_k6
from plimsoll.capacity.readers.latte import is_latte, read_latte
from plimsoll.capacity.readers.lines import (
    split_outputs,
    strip_prefixes,
    strip_shared_prefixes,
)
from plimsoll.capacity.readers.plimsoll_load import is_plimsoll_load, read_plimsoll_load
from plimsoll.capacity.readers.reading import Reading
from plimsoll.errors import UsageError

__all__ = ["PROGRAMS", "Reading", "read_text", "read_values"]

PROGRAMS = "YCSB, go-ycsb, sysbench, pgbench, wrk2, k6, latte"


@dataclass(frozen=True, slots=True)
class _Program:
    """A program whose text output is read.

    Attributes:
        knows: whether a text holds its report.
        read: reads one report; the second argument is the file's name.
        begin: matches the lines with which an output may begin.
        end: matches a line that every complete output has.
        marks: texts with which some of its lines begin.
        first: matches the first line of every output; None if it has no such line.
        is_run: whether an output that begins with such a line is that of a run.
    """

    knows: Callable[[str], bool]
    read: Callable[[str, str], Reading]
    begin: re.Pattern[str]
    end: re.Pattern[str]
    marks: Sequence[str]
    first: re.Pattern[str] | None = None
    is_run: Callable[[str], bool] = bool


OF_TEXT = (
    _Program(ycsb.is_ycsb, ycsb.read_ycsb, ycsb.BEGIN, ycsb.END, ycsb.MARKS),
    _Program(go_ycsb.is_go_ycsb, go_ycsb.read_go_ycsb, go_ycsb.BEGIN, go_ycsb.END, go_ycsb.MARKS),
    _Program(
        sysbench.is_sysbench,
        sysbench.read_sysbench,
        sysbench.BEGIN,
        sysbench.END,
        sysbench.MARKS,
        sysbench.FIRST,
        sysbench.is_run,
    ),
    _Program(
        sysbench.is_sysbench_json, sysbench.read_sysbench_json, sysbench.BEGIN, sysbench.END, ()
    ),
    _Program(
        pgbench.is_pgbench,
        pgbench.read_pgbench,
        pgbench.BEGIN,
        pgbench.END,
        pgbench.MARKS,
        pgbench.FIRST,
    ),
    _Program(wrk2.is_wrk2, wrk2.read_wrk2, wrk2.BEGIN, wrk2.END, wrk2.MARKS),
)
OF_JSON: tuple[tuple[Callable[[object], bool], Callable[[object, str], Reading]], ...] = (
    (is_k6, read_k6),
    (is_latte, read_latte),
    (is_plimsoll_load, read_plimsoll_load),
)


def read_text(text: str, name: str) -> tuple[Reading, ...]:
    """Read the text outputs of a load generator; empty if no known program wrote the text.

    Several outputs of one program, one after the other, are several steps: `all.txt output 2`.

    Raises:
        UsageError: An output cannot be read, or several programs wrote the text.
    """
    text = strip_prefixes(text)
    found = [program for program in OF_TEXT if program.knows(text)]
    if not found:
        return ()
    if len(found) > 1:
        raise UsageError(f"{name}: outputs of several programs: give each a file of its own")
    (program,) = found
    text = strip_shared_prefixes(text, program.marks)
    parts = split_outputs(text, program.begin, program.end, program.first)
    outputs = [part for part in parts if program.is_run(part)]
    if len(outputs) == 1:
        return (program.read(text, name),)
    return tuple(
        program.read(output, f"{name} output {number}") for number, output in enumerate(outputs, 1)
    )


def read_values(value: object, name: str) -> Reading | None:
    """Read the JSON output of a load generator; None if no known program wrote it.

    Raises:
        UsageError: The output cannot be read.
    """
    found = next((read for knows, read in OF_JSON if knows(value)), None)
    return found(value, name) if found else None

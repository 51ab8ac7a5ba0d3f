"""Readers of load generators' output: one module for each program, and a table of them.

One output is one step; a text may hold several. The program is recognized from the text itself. To
add a program, add a module, a row here, a row in docs/capacity.md, and a sample in
tests/unit/capacity/readers/.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from plimsoll import words
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
from plimsoll.capacity.readers.unread import list_unread
from plimsoll.errors import UsageError

__all__ = ["PROGRAMS", "Reading", "is_output", "read_text", "read_values"]

PROGRAMS = "YCSB, go-ycsb, sysbench, pgbench, wrk2, k6, latte"


@dataclass(frozen=True, slots=True)
class _Program:
    """A program whose text output is read.

    Attributes:
        name: the program's name.
        knows: whether a text holds its report.
        read: reads one report; the second argument is the file's name.
        begin: matches the lines with which an output may begin.
        end: matches a line that every complete output has.
        marks: texts with which some of its lines begin.
        first: matches the first line of every output; None if it has no such line.
        is_run: whether an output is that of a run. Others, such as those that fill tables, are left
            out if there is one.
    """

    name: str
    knows: Callable[[str], bool]
    read: Callable[[str, str], Reading]
    begin: re.Pattern[str]
    end: re.Pattern[str]
    marks: Sequence[str]
    first: re.Pattern[str] | None = None
    is_run: Callable[[str], bool] = bool


OF_TEXT = (
    _Program(
        "YCSB", ycsb.is_ycsb, ycsb.read_ycsb, ycsb.BEGIN, ycsb.END, ycsb.MARKS, is_run=ycsb.is_run
    ),
    _Program(
        "go-ycsb",
        go_ycsb.is_go_ycsb,
        go_ycsb.read_go_ycsb,
        go_ycsb.BEGIN,
        go_ycsb.END,
        go_ycsb.MARKS,
        is_run=go_ycsb.is_run,
    ),
    _Program(
        "sysbench",
        sysbench.is_sysbench,
        sysbench.read_sysbench,
        sysbench.BEGIN,
        sysbench.END,
        sysbench.MARKS,
        sysbench.FIRST,
        sysbench.is_run,
    ),
    _Program(
        "pgbench",
        pgbench.is_pgbench,
        pgbench.read_pgbench,
        pgbench.BEGIN,
        pgbench.END,
        pgbench.MARKS,
        pgbench.FIRST,
    ),
    _Program("wrk2", wrk2.is_wrk2, wrk2.read_wrk2, wrk2.BEGIN, wrk2.END, wrk2.MARKS),
)
OF_JSON: tuple[tuple[str, Callable[[object], bool], Callable[[object, str], Reading]], ...] = (
    ("k6", is_k6, read_k6),
    ("latte", is_latte, read_latte),
    ("plimsoll load", is_plimsoll_load, read_plimsoll_load),
)
_TABLE = "a table of steps"
# What else can be read, as a text shows it that holds more than that
_BESIDE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(mark))
    for name, mark in (
        ("k6", r'"iterations": ?\{|"k6_version"'),
        ("latte", r'"cycle_throughput"'),
        ("plimsoll load", r'"report": ?\{'),
        # `plimsoll load --json` has such names, too
        (
            _TABLE,
            r'\A(?![\s\S]*"report": ?\{)[\s\S]*\b(?:throughput_ops_per_second|window_s)\b',
        ),
    )
)
_FILLING = "the output beside it that is of the phase `load`, which fills the table, is left out"


def refuse_several(text: str, name: str) -> None:
    """Refuse a text in which outputs of several programs stand, or one and a table of steps.

    Raises:
        UsageError: It is one; the message names them.
    """
    found = [program.name for program in OF_TEXT if program.knows(text)]
    found += [beside for beside, mark in _BESIDE if mark.search(text)]
    if found == [_TABLE]:
        found += list_unread(text, "")
    if len(found) > 1:
        raise UsageError(
            f"{name}: outputs of {words.join_names(found)}: they are no one load line: give each a"
            " file of its own, and judge each alone"
        )


def is_output(text: str) -> bool:
    """Return whether a text has the output of a program whose text is read, or a part of it."""
    text = strip_prefixes(text)
    return any(program.knows(text) for program in OF_TEXT)


def refuse_torn(text: str, name: str) -> None:
    """Refuse a program's JSON between whose lines other text stands.

    Raises:
        UsageError: The text holds some.
    """
    for program, mark in _BESIDE:
        if program != _TABLE and mark.search(text):
            raise UsageError(f"{name}: {program}'s JSON between other lines: give the JSON alone")


def read_text(text: str, name: str) -> tuple[Reading, ...]:
    """Read the text outputs of a load generator; empty if no known program wrote the text.

    Several outputs of one program, one after the other, are several steps: `all.txt output 2`.

    Raises:
        UsageError: An output cannot be read.
    """
    text = strip_prefixes(text)
    program = next((program for program in OF_TEXT if program.knows(text)), None)
    if program is None:
        return ()
    text = strip_shared_prefixes(text, program.marks)
    parts = [*split_outputs(text, program.begin, program.end, program.first)]
    outputs = [part for part in parts if program.is_run(part)] or parts
    left_out = sum(program.knows(part) for part in parts) - sum(map(program.knows, outputs))
    notes = (_FILLING,) if left_out else ()
    several = len(outputs) > 1
    return tuple(
        _read_part(program, output, f"{name} output {number}" if several else name, notes)
        for number, output in enumerate(outputs, 1)
    )


def _read_part(program: _Program, text: str, name: str, notes: tuple[str, ...]) -> Reading:
    reading = program.read(text, name)
    return replace(reading, program=program.name, notes=(*reading.notes, *notes))


def read_values(value: object, name: str) -> Reading | None:
    """Read the JSON output of a load generator; None if no known program wrote it.

    Raises:
        UsageError: The output cannot be read.
    """
    for program, knows, read in OF_JSON:
        if knows(value):
            return replace(read(value, name), program=program)
    return None

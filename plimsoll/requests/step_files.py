"""The files that `plimsoll capacity` judges: tables, outputs of other programs, runs."""

import codecs
import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll import words
from plimsoll.capacity.readers import (
    Reading,
    is_output,
    read_text,
    read_values,
    refuse_several,
    refuse_torn,
)
from plimsoll.capacity.readers.lines import clean_text, list_undressed
from plimsoll.capacity.readers.reading import parse_json, split_json
from plimsoll.capacity.readers.tables import check_units, read_csv, read_table
from plimsoll.capacity.readers.unread import list_unread, refuse_unread
from plimsoll.capacity.readers.within import split_texts_within
from plimsoll.errors import UsageError
from plimsoll.files import read_limited
from plimsoll.model.judging.steps import Statistic, Step

MAX_BYTES = 256 * 1024 * 1024  # largest file
# How files begin that hold a text in another form, what they are, and what to do
_PACKED = (
    (b"\x1f\x8b", "a file of gzip", "unpack it with gunzip"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or save the table as CSV"),
    (b"\xfd7zXZ", "a file of xz", "unpack it with unxz"),
    (b"\x28\xb5\x2f\xfd", "a file of zstd", "unpack it with unzstd"),
    (b"BZh", "a file of bzip2", "unpack it with bunzip2"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet", "save the table as CSV"),
    (b"SQLite format 3", "a database of SQLite", "export the table as CSV"),
    (b"%PDF", "a PDF", "copy its table into a CSV file"),
)
# `[sudo] password` and `[1] 10:00:00` are no JSON
_JSON = re.compile(r'\s*(?:\{|\[\s*(?:["{\[\]]|\d+\s*,|(?:\d+\s*\]\s*)?\Z))')
FASTER_SHARE = 1.05  # throughput / rate above this shows that the given rate is not the file's


def read_steps(
    files: Sequence[Path],
    *,
    unnamed: Statistic,
    connections: Sequence[int],
    rates: Sequence[float],
    units_by_littles_law: bool,
) -> tuple[list[Step], list[str]]:
    """Read every file; the format is recognized by its text.

    Args:
        files: Files, or folders of runs.
        unnamed: The statistic of table columns that name none.
        connections: The connections of those outputs that do not have them, in order.
        rates: The rates of those outputs that do not have them, in order.
        units_by_littles_law: Whether to also reject milliseconds in a table by Little's law.

    Returns:
        The steps, and notes for the reader.

    Raises:
        UsageError: A file cannot be read, or is given twice, or its load is not known.
    """
    found: list[Step | Reading] = []
    for number, file in enumerate(files):
        if file.resolve() in [one.resolve() for one in files[:number]]:
            raise UsageError(f"{file}: is given twice: its steps would count as repetitions")
        read = _read_file(file / "result.json" if file.is_dir() else file, unnamed)
        check_units(
            [one for one in read if isinstance(one, Step)],
            by_littles_law=units_by_littles_law,
        )
        found += read
    readings = [one for one in found if isinstance(one, Reading)]
    _refuse_programs(readings)
    readings = _add_given_loads(readings, connections, rates)
    completed = iter(readings)
    steps = [one if isinstance(one, Step) else next(completed).step for one in found]
    return steps, _group_notes(readings)


def read_visible_text(path: Path) -> str:
    """Read a file's text, without what terminals and logs have put around it.

    Raises:
        UsageError: The file cannot be read, or is too large.
    """
    if not path.exists():
        raise UsageError(f"{path.parent}: is not a run: it has no {path.name}")
    raw = read_limited(path, bytes_max=MAX_BYTES)
    for begin, what, cure in _PACKED:
        if raw.startswith(begin):
            raise UsageError(f"{path}: that is {what}: {cure}")
    return _clean(_decode(raw, path))


def _clean(text: str) -> str:
    return words.escape_controls(clean_text(text))


def _decode(raw: bytes, path: Path) -> str:
    """Decode UTF-8, UTF-16 (PowerShell's `>`), or a text of another encoding in ASCII's letters.

    Raises:
        UsageError: It is no text.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        # Every second byte of ASCII's letters is 0 in UTF-16 without its mark
        for encoding, first in (("utf-16-le", 1), ("utf-16-be", 0)):
            if not any(raw[first:200:2]) and all(raw[1 - first : 200 : 2]):
                return raw.decode(encoding, errors="replace")
        raise UsageError(f"{path}: is no text: it has bytes of 0")
    return raw.decode("utf-8-sig", errors="replace")  # such as a comment in Latin-1


def _read_file(path: Path, unnamed: Statistic) -> Sequence[Step | Reading]:
    """Return the steps of a table, or the readings of a program's outputs."""
    text, name = read_visible_text(path), path.name
    if _is_json(text):
        refuse_several(text, name)
        with contextlib.suppress(UsageError):
            return _read_json(text, name, unnamed)
    outside, texts = split_texts_within(text)
    within = [] if is_output(outside) else [_clean(one) for one in texts]
    for one in within:
        if is_output(one):
            return _read_visible(one, name, unnamed)
        with contextlib.suppress(UsageError):
            return _read_table_or_json(one, name, unnamed)
    try:
        return _read_visible(text, name, unnamed)
    except UsageError:
        for one in within:
            refuse_unread(one, name)
        raise


def _read_visible(text: str, name: str, unnamed: Statistic) -> Sequence[Step | Reading]:
    refuse_several(text, name)
    if readings := read_text(text, name):
        beside = list_unread(text, readings[0].program)
        notes = (f"{words.join_names(beside)} in the same file is left out",) if beside else ()
        return [replace(one, notes=(*one.notes, *notes)) for one in readings]
    try:
        return _read_table_or_json(text, name, unnamed)
    except UsageError:
        for other in list_undressed(text):
            with contextlib.suppress(UsageError):
                return _read_table_or_json(other, name, unnamed)
        refuse_unread(text, name)
        if not _is_json(text):
            refuse_torn(text, name)
        raise


def _read_table_or_json(text: str, name: str, unnamed: Statistic) -> Sequence[Step | Reading]:
    read = _read_json if _is_json(text) else read_csv
    return read(text, name, unnamed)


def _is_json(text: str) -> bool:
    return bool(_JSON.match(text))


def _read_json(text: str, name: str, unnamed: Statistic) -> Sequence[Step | Reading]:
    """Return the steps of a table in JSON, or the readings of outputs one after the other."""
    values = split_json(text)
    if len(values) == 1:
        value = parse_json(text, name)
        reading = read_values(value, name)
        return [reading] if reading else read_table(value, name, unnamed)
    each = [
        (f"{name} output {number}", parse_json(one, f"{name} output {number}"))
        for number, one in enumerate(values, 1)
    ]
    known = [read_values(value, source) for source, value in each]
    if all(known):
        return [reading for reading in known if reading]
    return read_table([value for _, value in each], name, unnamed)


def _refuse_programs(readings: Iterable[Reading]) -> None:
    """Refuse outputs of several programs, whose operations and clients differ.

    Raises:
        UsageError: There are several.
    """
    sources = {reading.program: reading.step.source for reading in readings}
    if len(sources) > 1:
        told = [f"{source} is {program}'s" for program, source in sources.items()]
        raise UsageError(
            f"{words.join_names(told)}: outputs of several programs are no one load line: judge"
            " each alone"
        )


def _add_given_loads(
    readings: Sequence[Reading], connections: Sequence[int], rates: Sequence[float]
) -> list[Reading]:
    """Add the given loads to the outputs that do not have their own.

    Raises:
        UsageError: A load is still unknown, or the number of given loads does not fit.
    """
    without_rate = [r.step for r in readings if r.rate_unknown]
    without_connections = [r.step for r in readings if r.step.connections is None]
    _check_count("--rate", rates, without_rate)
    _check_count("--connections", connections, without_connections)
    for step, rate in zip(without_rate, rates, strict=False):
        _check_rate(step, rate)
    next_rate, next_connections = iter(rates), iter(connections)
    completed = []
    for reading in readings:
        known: dict[str, float] = {}
        if reading.rate_unknown:
            if not rates:
                raise UsageError(
                    f"{reading.step.source}: {reading.rate_unknown}: at how many operations per"
                    f" second? Give --rate N{_describe_each(without_rate)}"
                )
            known["rate_ops_per_second"] = next(next_rate)
        if reading.step.connections is None:
            if connections:
                known["connections"] = next(next_connections)
            elif not reading.rate_unknown and reading.step.rate_ops_per_second is None:
                raise UsageError(
                    f"{reading.step.source}: how many connections (threads)? The file does not say:"
                    f" give --connections N{_describe_each(without_connections)}"
                )
        completed.append(replace(reading, step=reading.step.model_copy(update=known)))
    return completed


def _check_count(option: str, given: Sequence[float], lacking: Sequence[Step]) -> None:
    if given and len(given) != len(lacking):
        lack = words.format_count(len(lacking), "file lacks it", "files lack it")
        numbers = words.format_count(len(given), "number")
        raise UsageError(f"{option} is given {numbers}, but {lack}{_list_sources(lacking)}")


def _check_rate(step: Step, rate: float) -> None:
    throughput = step.throughput_ops_per_second or 0.0
    if throughput > rate * FASTER_SHARE:
        raise UsageError(
            f"{step.source}: {words.format_throughput(throughput)} were measured, more than --rate"
            f" {words.format_number(rate)}"
        )


def _describe_each(lacking: Sequence[Step]) -> str:
    return (
        ""
        if len(lacking) < 2
        else f",N,..., one for each file that lacks it{_list_sources(lacking)}"
    )


def _list_sources(steps: Sequence[Step]) -> str:
    return f" ({', '.join(step.source or '' for step in steps)})" if steps else ""


def _group_notes(readings: Iterable[Reading]) -> list[str]:
    """Return each note once, with the files that it concerns."""
    files: dict[str, list[str]] = {}
    for reading in readings:
        for note in reading.notes:
            files.setdefault(note, []).append(reading.step.source or "")
    return [f"{', '.join(names)}: {note}" for note, names in files.items()]

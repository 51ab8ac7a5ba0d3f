"""The rows that a search draws from: Plimsoll's own, made before, or the user's, which it reads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError
from plimsoll.families.dataset_notes import DatasetNote
from plimsoll.families.family import family_of
from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine import EngineTarget
from plimsoll.workload import Compiled, Workload

_READS = ("SELECT", "(SELECT", "WITH")


@dataclass(frozen=True)
class Found:
    """What is there for a search.

    Attributes:
        server: As the server names itself.
        compiled: The workload for the rows that there are.
        given: The workload's parameters that are not to have their defaults.
        note: What is known of the dataset; None: Plimsoll did not make it.
    """

    server: str
    compiled: Compiled
    given: dict[str, Scalar]
    note: DatasetNote | None


def look(
    target: EngineTarget, workload: Workload, records: int | None, given: Mapping[str, Scalar]
) -> Found:
    """See what rows a database has for a workload.

    Raises:
        PlimsollError: The database cannot be reached or refuses.
        UsageError: The workload cannot be resolved.
    """
    with family_of(target.protocol).open_datasets(target) as datasets:
        server = datasets.version()
        note = datasets.read_note(workload.dataset) if datasets.has_place() else None
    values = dict(given)
    if note is not None:
        records = note.records if records is None else records
        noted = {k: v for k, v in note.parameters.items() if k in workload.parameters}
        values = {**noted, **given}
    compiled = workload.compile(records, values, target.protocol)
    return Found(server, compiled, values, note)


def is_complete(found: Found) -> bool:
    """Whether Plimsoll has made the dataset, to its last row, with the parameters asked for."""
    note = found.note
    if note is None or note.parameters != found.compiled.dataset_parameters:
        return False
    loaded = note.loaded_rows
    return all(loaded.get(table.name, 0) >= table.rows for table in found.compiled.tables)


def drop(target: EngineTarget, found: Found) -> None:
    """Drop the dataset, if Plimsoll made it."""
    with family_of(target.protocol).open_datasets(target) as datasets:
        datasets.drop(found.compiled)


def load_number(target: EngineTarget, found: Found) -> int:
    """Number a load that inserts."""
    if not found.compiled.inserts:
        return 0
    with family_of(target.protocol).open_datasets(target) as datasets:
        return datasets.begin_load(found.compiled)


def require_harmless(found: Found, *, allow_writes: bool) -> None:
    """Refuse what would change rows that Plimsoll did not make.

    Raises:
        UsageError: The workload writes, and nobody allowed it, or it inserts rows of its own.
    """
    if found.note is not None:
        return
    place = protocol_facts(found.compiled.protocol).database_word
    if found.compiled.inserts:
        raise UsageError(
            f"--workload {found.compiled.name}: it inserts rows that Plimsoll numbers, and there is"
            f" no dataset of Plimsoll's in this {place}: --prepare makes one"
        )
    writing = [
        operation.name
        for operation in found.compiled.engine.operations
        if any(not _reads(sql) for statement in operation.statements for sql in statement.sql)
    ]
    if writing and not allow_writes:
        raise UsageError(
            f"--workload {found.compiled.name}: {', '.join(writing)} would change rows that"
            " Plimsoll did not make: --allow-writes lets it"
        )


def _reads(sql: str) -> bool:
    """Whether a statement reads and locks nothing (FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE)."""
    words = set(re.findall(r"\w+", sql.upper()))
    return sql.upper().startswith(_READS) and not words & {"UPDATE", "SHARE"}

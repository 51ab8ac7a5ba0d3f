"""The rows that a workload runs on."""

from collections.abc import Mapping

from plimsoll.complaints import Range, Scalar
from plimsoll.face.checks import number
from plimsoll.face.databases import WorkloadName, database, require_count, workload_named
from plimsoll.face.progress import Callback, Progress
from plimsoll.face.sentences import plimsoll_errors
from plimsoll.families.prepare import Prepared
from plimsoll.families.prepare import prepare as prepare_rows
from plimsoll.finding.dataset import CONNECTIONS
from plimsoll.finding.interrupts import cancelled_by_interrupt
from plimsoll.model.engine import EngineTarget
from plimsoll.workload import Compiled


def prepare(
    dsn: str,
    *,
    workload: WorkloadName,
    records: int | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    connections: int = CONNECTIONS,
    password: str | None = None,
    progress: Callback = lambda _: None,
) -> dict[str, int]:
    """Make a workload's tables and rows, and count them; a call that finds them only counts.

    An interrupt ends it; the next call goes on from there, and never doubles a row.

    Args:
        dsn: The database, as of `find`.
        workload: A built-in one by name, or the path of a YAML file.
        records: Of what, the workload says; None: its own number.
        parameters: The workload's, for those that are not to have their defaults.
        connections: That insert at the same time, 1 to 1,000.
        password: Where the DSN has none; None: from the variable PLIMSOLL_PASSWORD.
        progress: Called now and then.

    Returns:
        The rows of each table, counted.

    Raises:
        UsageError: An argument cannot be.
        PlimsollError: The database refuses, or a table of that name is not Plimsoll's.
    """
    with plimsoll_errors():
        number(connections, "connections", Range(1, 1000), whole=True)
        require_count(records)
        target = database(dsn, password)
        chosen, _ = workload_named(workload)
        compiled = chosen.compile(records, parameters or {}, target.protocol)
        return rows_made(target, compiled, progress, connections).counted_rows


def rows_made(
    target: EngineTarget, compiled: Compiled, progress: Callback, connections: int = CONNECTIONS
) -> Prepared:
    """Make a dataset, and tell a program of it."""

    def advance(rows: int) -> None:
        progress(Progress(f"{rows:,} of {compiled.rows:,} rows"))

    with cancelled_by_interrupt() as token:
        return prepare_rows(
            target, compiled, connections=connections, on_progress=advance, cancel=token
        )

"""One load on a database, without a search."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import plimsoll_engine
from plimsoll.complaints import Scalar
from plimsoll.databases.compared_types import find_texts_compared_with_numbers
from plimsoll.databases.conditions import leave_unknown
from plimsoll.databases.dataset_notes import check_loaded, check_same_parameters
from plimsoll.databases.existing_keys import draw_from_existing
from plimsoll.databases.family import find_family
from plimsoll.databases.reading_back import add_read_back
from plimsoll.errors import PlimsollError
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.conditions import audit_rows
from plimsoll.load_line.dataset import Found, look, require_place, reserve_load_number
from plimsoll.load_line.durability import note_durability, note_tables
from plimsoll.load_line.machine import choose_poll_us, choose_threads
from plimsoll.load_line.options import LoadOptions
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.machine import require_set_clock
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import (
    ClosedLoop,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
    OpenLoop,
)
from plimsoll.model.run.results import CheckedCondition, note_no_rows
from plimsoll.workload import Compiled, Workload

SEEDS = 2**53  # range of integers that every JSON reader keeps exactly


@dataclass(frozen=True)
class Loadable:
    """A workload that is ready to be loaded on a database.

    Attributes:
        server: The server's own name and version.
        compiled: The workload, compiled for the existing rows.
        sent: The part that clients send; includes the load's number if it inserts.
        notes: Notes on tables of the user's own for the reader.
    """

    server: str
    compiled: Compiled
    sent: EngineWorkload
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A finished load.

    Attributes:
        loadable: The workload and the server.
        spec: The settings of the load.
        report: The measurements.
        notes: Notes on the target for the reader.
        conditions: What is true of the rows after it; empty if nothing was checked.
    """

    loadable: Loadable
    spec: LoadSpec
    report: LoadReport
    notes: tuple[str, ...] = ()
    conditions: tuple[CheckedCondition, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, without credentials."""
        compiled = self.loadable.compiled
        return {
            "server": self.loadable.server,
            "statement_mode": self.spec.target.statement_mode,
            "workload": compiled.name,
            "dataset": compiled.dataset,
            "records": compiled.records,
            "parameters": compiled.parameters,
            "load": self.spec.model_dump(mode="json", exclude={"target", "workload"}),
            "report": self.report.model_dump(mode="json"),
            "per_minute": self.report.per_minute(compiled.per_minute),
            "conditions": [one.model_dump(mode="json") for one in self.conditions],
        }


def find_rows(
    target: EngineTarget, workload: Workload, records: int | None, given: Mapping[str, Scalar]
) -> Found:
    """Find a workload's rows in a database.

    Raises:
        PlimsollError: The database is unreachable or refuses, or has no rows.
        UsageError: The workload cannot be resolved.
    """
    found = look(target, workload, records, given)
    require_place(target, found)
    if found.note is None and records is None and found.compiled.tables:
        kind = find_protocol_facts(target.protocol).database_word
        raise PlimsollError(
            f"there is no dataset {workload.dataset!r} in the {kind} {target.database}:"
            f" make it (plimsoll prepare --workload {workload.name} --records N), or give the"
            " number of records if another tool has made it"
        )
    return found


def _prepare_load(target: EngineTarget, found: Found) -> Loadable:
    """Prepare a workload for a database's rows, and check that the load can use them.

    Raises:
        PlimsollError: The database has too few rows, or rows of other parameters.
    """
    found = replace(found, compiled=draw_from_existing(target, found.compiled))
    if found.note is None:
        notes = find_texts_compared_with_numbers(target, found.compiled)
        return Loadable(found.server, found.compiled, found.compiled.engine, notes)
    check_same_parameters(found.compiled, found.note, notes_table="plimsoll_datasets")
    check_loaded(found.compiled, found.note)
    sent = found.compiled.engine_workload(reserve_load_number(target, found))
    return Loadable(found.server, found.compiled, sent)


def run_load(
    target: EngineTarget,
    workload: Workload,
    parameters: Mapping[str, Scalar],
    options: LoadOptions,
    *,
    on_second: Callable[[str], None],
    say: Callable[[str], object] = lambda _: None,
    token: plimsoll_engine.CancelToken | None = None,
    meet: Callable[[], int] | None = None,
) -> Loaded:
    """Run one load, and check the workload's conditions after it.

    Ctrl-C and SIGTERM end it early and keep what it has measured.

    Args:
        target: The database.
        workload: What to send.
        parameters: The workload parameters that differ from their defaults.
        options: The options of the load.
        on_second: Called each second with the second's reports, as JSON.
        say: Called with each note on the target before the load, and with what comes after it.
        token: Token that ends the load early.
        meet: Called once it is ready; returns when it begins, in ms of the epoch. None for at once.

    Raises:
        PlimsollError: The database refuses, is unreachable or does not have the rows, or this
            machine's clock was never set.
    """
    require_set_clock()
    target, notes = adapt_to_pooler(target)
    there = _prepare_load(target, find_rows(target, workload, options.records, parameters))
    notes += note_durability(target) + note_tables(target, there.compiled) + there.notes
    for note in notes:
        say(note)
    threads = options.threads or choose_threads(target, options.connections, options.rate)
    loop: ClosedLoop | OpenLoop = ClosedLoop()
    if options.rate is not None:
        arrivals = options.arrivals or "constant"
        loop = OpenLoop(rate_ops_per_second=options.rate, arrivals=arrivals)
    spec = LoadSpec(
        target=target,
        workload=there.sent,
        connections=options.connections,
        threads=threads,
        poll_us=choose_poll_us(target, threads) if options.poll_us is None else options.poll_us,
        loop=loop,
        warmup_s=options.warmup_s,
        duration_s=options.duration_s,
        operations_limit=options.operations_most,
        timeout_ms=options.timeout_ms,
        seed=secrets.randbelow(SEEDS) if options.seed is None else options.seed,
        start_at_epoch_ms=None if meet is None else meet(),
        statement_latencies=options.statements,
    )
    token = token or plimsoll_engine.CancelToken()
    try:
        with end_on_signals(token.cancel):
            text = plimsoll_engine.run(spec.model_dump_json(), on_second, token)
    except plimsoll_engine.EngineError as error:
        raise PlimsollError(str(error)) from None
    report = LoadReport.model_validate_json(text).with_meaning(spec.workload)
    connect = find_family(target.protocol).open_datasets
    report = add_read_back(spec, report, connect)
    conditions: tuple[CheckedCondition, ...] = ()
    if options.conditions and there.compiled.conditions:
        conditions = (
            leave_unknown(there.compiled, INTERRUPTED)
            if report.ended == "cancelled"
            else audit_rows(target, there.compiled, say)
        )
    notes += note_no_rows([report.operations])
    return Loaded(there, spec, report, notes, conditions)

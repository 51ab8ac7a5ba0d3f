"""Today's load on a server, from its own counters: statements, I/O, log and locks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from time import monotonic

import numpy as np

from plimsoll.capacity.statistics.factorial import compute_visits_per_operation
from plimsoll.databases.counted_statements import Look, sum_growth
from plimsoll.databases.family import Family, find_family
from plimsoll.databases.observing import combine_looks, look_repeatedly, open_statements
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.fleet import ServerCounters
from plimsoll.model.run.results import ServerWaits
from plimsoll.sizing.lateness import History
from plimsoll.sizing.measured import Demand
from plimsoll.sizing.production import Observation, OperationSeen, Rates, Spread
from plimsoll.workload.derive.derived import Derived, derive


@dataclass(frozen=True)
class Sample:
    """What a server did between two looks, and between the two readings of counters after them.

    Attributes:
        interval_s: Time between the two looks, for the statements.
        counted_s: Time between the two readings of counters, for waits, reads and writes: a
            reading that comes late is not of the time between the looks.
        statements: Number of statements that it received.
        storage: I/O rates; None if the server does not report them.
        waits: Waits of its sessions.
        reads: Data reads; None if unknown, or if they may have been served from memory.
        writes: All other I/Os; None if unknown.
    """

    interval_s: float
    counted_s: float
    statements: int
    storage: StorageRates | None
    waits: ServerWaits
    reads: int | None
    writes: float | None


def observe_server(
    target: EngineTarget, for_s: float, wait: Callable[[float], None]
) -> Observation:
    """Read a server's counters every few seconds for a given time. Changes nothing on it.

    Raises:
        PlimsollError: The server is unreachable, refuses, or counts no statements.
    """
    family = find_family(target.protocol)
    counters: list[ServerCounters | None] = []
    with open_statements(target) as reader:
        looks = look_repeatedly(
            reader, for_s, wait, lambda: counters.append(family.read_counters(target))
        )
        seen = combine_looks(reader, target, looks)
    samples = _build_samples(family, looks, counters)
    try:
        derived = derive(seen, writes=True)
    except UsageError as error:  # the rates are reported all the same
        found = summarize_server(None, samples, server=seen.server, looks=looks)
        return found.model_copy(update={"notes": (*found.notes, *seen.notes, str(error))})
    return summarize_server(derived, samples, server=seen.server, looks=looks)


def _build_samples(
    family: Family, looks: Sequence[Look], counters: Sequence[ServerCounters | None]
) -> list[Sample]:
    found = []
    for (before, after), (old, new) in zip(pairwise(looks), pairwise(counters), strict=True):
        statements = sum(one.calls for one in sum_growth([before, after]).values())
        storage, waits, reads = None, ServerWaits(), None
        writes: float | None = None
        interval_s = counted_s = after.epoch_s - before.epoch_s
        if old is not None and new is not None:
            figures = family.server_figures(old, new, statements_by_clients=None)
            counted_s = figures.interval_s
            storage, waits = family.storage_rates(figures), family.waits(figures)
            reads = figures.counters.get("Innodb_data_reads")
            if storage and reads is not None:
                writes = float(max(0, round(storage.iops * storage.interval_s) - reads))
        found.append(Sample(interval_s, counted_s, statements, storage, waits, reads, writes))
    return found


def summarize_server(
    derived: Derived | None, samples: Sequence[Sample], *, server: str, looks: Sequence[Look]
) -> Observation:
    """Summarize an observation; operations are omitted if none can be derived."""
    window_s = looks[-1].epoch_s - looks[0].epoch_s
    operations = derived.operations if derived else ()
    calls = sum(one.calls for one in operations)
    statements = sum(sample.statements for sample in samples)
    rates = _compute_rates(samples, calls / statements if statements and calls else None)
    return Observation(
        source="server",
        database=server,
        began=datetime.fromtimestamp(looks[0].epoch_s, UTC),
        ended=datetime.fromtimestamp(looks[-1].epoch_s, UTC),
        sample_s=window_s / len(samples),
        rates=rates,
        demand=_compute_demand(rates, calls / window_s),
        operations=tuple(
            OperationSeen(
                name=one.name,
                ops_per_second=one.calls / window_s,
                share=one.calls / calls,
                mean_us=1e6 * one.time_s / one.calls,
                statements=tuple(text for text, _ in one.statements),
            )
            for one in operations
        ),
        share_of_calls=derived.share_of_calls if derived else None,
        notes=(*(derived.notes if derived else ()), *_write_notes(samples)),
    )


def _compute_rates(samples: Sequence[Sample], per_statement: float | None) -> Rates:
    def rate(of: Callable[[Sample], float | None], *, looked: bool = False) -> Spread | None:
        values = [
            (of(sample), sample.interval_s if looked else sample.counted_s) for sample in samples
        ]
        return Spread.of([None if value is None else value / s for value, s in values])

    storages = [sample.storage for sample in samples]
    return Rates(
        operations=rate(
            lambda sample: per_statement and sample.statements * per_statement, looked=True
        ),
        statements=rate(lambda sample: sample.statements, looked=True),
        read_iops=rate(lambda sample: sample.reads),
        write_iops=rate(lambda sample: sample.writes),
        iops=Spread.of([one.iops if one else None for one in storages]),
        mib=Spread.of([one.mib_s if one else None for one in storages]),
        log_flushes=rate(lambda sample: sample.waits.log_flushes),
        row_lock_wait_s=rate(lambda sample: sample.waits.row_locks_s),
    )


def _compute_demand(rates: Rates, ops_per_second: float) -> Demand | None:
    if not ops_per_second:
        return None

    def each(spread: Spread | None) -> float | None:
        return compute_visits_per_operation(spread.mean if spread else None, ops_per_second)

    return Demand(
        ops_per_second=ops_per_second,
        ios=each(rates.iops),
        read_ios=each(rates.read_iops),
        write_ios=each(rates.write_iops),
        mib=each(rates.mib),
        log_flushes=each(rates.log_flushes),
        lock_wait_s=each(rates.row_lock_wait_s),
    )


def _write_notes(samples: Sequence[Sample]) -> list[str]:
    notes = [
        "the operations' peak is computed from that of the statements, at the mean mix",
        "I/O, log and waits are those of the whole server, with its other databases",
    ]
    if any(sample.storage is None for sample in samples):
        notes.append("for a part of the time the server's I/O is not known")
    if any(sample.storage and not sample.storage.whole for sample in samples):
        notes.append(
            "only I/O that surely reached the storage is counted (the log, and what checkpoints"
            " wrote): the operating system's cache may have served reads and taken other writes"
        )
    return notes


def read_server_history(
    target: EngineTarget, for_s: float, wait: Callable[[float], None]
) -> tuple[History, bool]:
    """Read a server's I/O counters each second; also whether they count all that reaches storage.

    Raises:
        PlimsollError: The server does not answer, or does not count its I/O.
    """
    family = find_family(target.protocol)
    counters = []
    began_s = monotonic()
    for second in range(max(2, round(for_s)) + 1):
        wait(max(0.0, began_s + second - monotonic()))
        counters.append(family.read_counters(target))
    known = []
    for old, new in pairwise(counters):
        if old is not None and new is not None:
            rates = family.storage_rates(
                family.server_figures(old, new, statements_by_clients=None)
            )
            if rates is not None:
                known.append((old.epoch_ms / 1000, rates))
    if not known:
        raise PlimsollError("the server does not report its I/O: see docs/observing.md")
    history = History(
        1.0,
        np.array([begins_s for begins_s, _ in known]),
        np.array([(rates.iops, rates.mib_s * 2**20) for _, rates in known]),
    )
    return history, all(rates.whole for _, rates in known)

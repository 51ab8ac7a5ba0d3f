"""Adds up the results of a step's clients as they arrive.

Histograms and seconds are the bulk of a result, and the engine adds them up. Beside them only sums
and extremes are kept, so that memory does not grow with the number of clients.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

import plimsoll_engine
from plimsoll.errors import UnreadableFileError
from plimsoll.model.engine.answered import (
    LatencySummary,
    LoadReport,
    NodeReport,
    ReadBack,
    SelfReport,
)
from plimsoll.model.run.fleet import ClientResult, ServerLook, StepPlan
from plimsoll.model.run.results import NodeTotals, OperationTotals, SecondTotals
from plimsoll.model.validation import read_foreign_json

Number = TypeVar("Number", int, float)
# A client's file without its histograms and seconds: samples of its server take most of 0.5 MiB
REST_MAX_BYTES = 4 * 2**20
_WHY_MAX = 500  # characters of a reason, which may repeat a name from the file
_SECONDS: TypeAdapter[tuple[SecondTotals, ...]] = TypeAdapter(tuple[SecondTotals, ...])


@dataclass(slots=True)
class Extent:
    """The lowest and highest value seen; None before the first."""

    least: int | None = None
    most: int | None = None

    def see(self, value: int) -> None:
        """Take one more value."""
        self.least = value if self.least is None else min(self.least, value)
        self.most = value if self.most is None else max(self.most, value)

    @property
    def spread(self) -> int | None:
        """The difference between both; None before the first value."""
        return None if self.least is None or self.most is None else self.most - self.least


@dataclass(slots=True)
class _Operation:
    """The counts of one operation."""

    succeeded: int = 0
    records: int = 0
    rows: int | None = 0  # None once a client did not know them
    rows_missing: int | None = 0
    rows_least: int | None = 0
    rolled_back: int = 0
    retries: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Node:
    """The counts of one node."""

    clients: int = 0
    ring_shares: float = 0.0
    succeeded: int = 0
    statements_sent: int = 0
    taken_over: int = 0
    lost: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, seen: NodeReport) -> None:
        self.clients += 1
        self.ring_shares += seen.ring_share
        self.succeeded += seen.succeeded
        self.statements_sent += seen.statements_sent
        self.taken_over += seen.taken_over
        self.lost += seen.lost
        self.errors.update(seen.errors)


@dataclass(slots=True)
class _NodeSums:
    """The sums of each node so far; empty for a target with one node.

    Nodes are identified by address: each client discovers the cluster by itself.
    """

    _nodes: dict[str, _Node] = field(default_factory=dict)

    def add(self, seen: Iterable[NodeReport]) -> None:
        """Add one client's figures."""
        for node in seen:
            self._nodes.setdefault(node.address, _Node()).add(node)

    def totals(self, merged: Mapping[str, Any]) -> tuple[NodeTotals, ...]:
        """Return each node's totals over all clients, sorted by address.

        Args:
            merged: The merged histograms of the engine (`Fold.nodes`).
        """
        return tuple(
            _make_node_totals(address, node, merged[address])
            for address, node in sorted(self._nodes.items())
        )


@dataclass(slots=True)
class Fold:
    """The sums over a step's clients so far.

    Attributes:
        plan: The plan of the step.
        ran: The numbers of the clients that ran.
        invoked_epoch_ms: The times at which the clients' code was called.
        window_starts: The times at which the clients' windows began, in ms of the epoch.
        window_ends: The times at which they ended.
        late: Milliseconds after the barrier, by client, of clients that started late.
        looks: The server observations of the clients that made any.
        error_examples: One message for each error code.
        cpu_s: The CPU time of the work, in seconds, without busy-polling.
        polled_s: The time spent busy-polling, in seconds; None if one client does not know its own.
        threads_s: The sum of the windows of all threads, in seconds.
        busiest: The highest share of a window in which a client was not waiting.
        most_waiting_percent: The highest share of its work's time that a client waited for a
            processor.
        send_lateness_us: In an open loop, the worst client's p99 of the delay from due to sent.
        backlog_end: In an open loop, the operations that were due and unsent at the end.
        read_back: What a second session found of written rows; None if none could.
        writing: The names of the operations that write.
    """

    plan: StepPlan
    ran: set[int] = field(default_factory=set)
    invoked_epoch_ms: Extent = field(default_factory=Extent)
    window_starts: Extent = field(default_factory=Extent)
    window_ends: Extent = field(default_factory=Extent)
    late: dict[int, int] = field(default_factory=dict)
    looks: list[ServerLook] = field(default_factory=list)
    error_examples: dict[str, str] = field(default_factory=dict)
    cold_starts: int = 0
    cpu_s: float = 0.0
    polled_s: float | None = 0.0
    threads_s: float = 0.0
    unanswered: int = 0
    statements_sent: int = 0
    engine_version: str | None = None
    memory_max_mib: float | None = None
    busiest: float | None = None
    most_waiting_percent: float | None = None
    send_lateness_us: int | None = None
    backlog_end: int | None = None
    read_back: ReadBack | None = None
    writing: set[str] = field(default_factory=set)
    _operations: dict[str, _Operation] = field(default_factory=dict)
    _nodes: _NodeSums = field(default_factory=_NodeSums)
    _sums: plimsoll_engine.Fold = field(default_factory=plimsoll_engine.Fold)

    def add(self, file: bytes, *, name: str) -> None:
        """Add one client's result.

        Args:
            file: The result as JSON (`ClientResult`).
            name: The file's name, for error messages.

        Raises:
            UnreadableFileError: The file is not a client's result.
        """
        why = f"it has more than {REST_MAX_BYTES} bytes without its histograms and seconds"
        try:
            rest = self._sums.add(file).encode()
            if len(rest) <= REST_MAX_BYTES:
                return self._note(read_foreign_json(ClientResult, rest))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field_name = ".".join(map(str, first["loc"]))
            why = f"{field_name}: {first['msg']}"
        except plimsoll_engine.EngineError as error:
            why = str(error)
        raise UnreadableFileError(f"{name} is not a client's result: {why[:_WHY_MAX]}")

    def _note(self, client: ClientResult) -> None:
        report = client.report
        self.ran.add(client.client)
        self.invoked_epoch_ms.see(client.invoked_epoch_ms)
        self.window_starts.see(report.window_start_epoch_ms)
        self.window_ends.see(report.window_end_epoch_ms)
        if report.late_start_ms > 0:
            self.late[client.client] = report.late_start_ms
        self.looks.extend(client.looks)
        self.error_examples.update(report.error_examples)
        self._nodes.add(report.nodes)
        self.cold_starts += client.cold_start
        self.statements_sent += report.statements_sent
        self.engine_version = self.engine_version or report.engine_version
        self.memory_max_mib = _choose_greater(self.memory_max_mib, client.memory_max_mib)
        self.threads_s += report.window_s * report.threads
        self.read_back = self.read_back or report.read_back
        self._note_self(report.client)
        self._note_operations(report)

    def _note_self(self, client: SelfReport) -> None:
        worked_s = client.cpu_user_s + client.cpu_system_s - (client.polled_s or 0.0)
        self.cpu_s += max(0.0, worked_s)
        unknown = self.polled_s is None or client.polled_s is None
        self.polled_s = None if unknown else (self.polled_s or 0.0) + (client.polled_s or 0.0)
        self.unanswered += client.unanswered
        self.busiest = _choose_greater(self.busiest, client.busy_fraction)
        waiting = _compute_waiting_percent(client)
        self.most_waiting_percent = _choose_greater(self.most_waiting_percent, waiting)
        if client.send_lateness_us is not None:
            self.send_lateness_us = _choose_greater(
                self.send_lateness_us, client.send_lateness_us.p99
            )
        if client.backlog_end is not None:
            self.backlog_end = (self.backlog_end or 0) + client.backlog_end

    def _note_operations(self, report: LoadReport) -> None:
        for name, part in report.operations.items():
            totals = self._operations.setdefault(name, _Operation())
            totals.succeeded += part.succeeded
            totals.records += part.records
            totals.rows = _sum_if_known(totals.rows, part.rows)
            totals.rows_missing = _sum_if_known(totals.rows_missing, part.rows_missing)
            totals.rows_least = _sum_if_known(totals.rows_least, part.rows_least)
            totals.rolled_back += part.rolled_back
            totals.retries.update(part.retries)
            totals.errors.update(part.errors)
            if part.writes:
                self.writing.add(name)

    @property
    def succeeded(self) -> int:
        """The successful operations within the clients' own windows."""
        return sum(operation.succeeded for operation in self._operations.values())

    @property
    def polled_share(self) -> float | None:
        """The share of the threads' time spent busy-polling; None if unknown."""
        known = self.polled_s is not None and self.threads_s > 0
        return (self.polled_s or 0.0) / self.threads_s if known else None

    def operations(self) -> dict[str, OperationTotals]:
        """Return the totals of each operation over all clients."""
        merged = json.loads(self._sums.operations())
        return {
            name: OperationTotals(
                succeeded=counts.succeeded,
                records=counts.records,
                rows=counts.rows,
                rows_missing=counts.rows_missing,
                rows_least=counts.rows_least,
                rolled_back=counts.rolled_back,
                retries=dict(counts.retries),
                errors=dict(counts.errors),
                latency_us=LatencySummary.model_validate(merged[name]["latency_us"]),
                histogram=merged[name]["histogram"],
            )
            for name, counts in self._operations.items()
        }

    def nodes(self) -> tuple[NodeTotals, ...]:
        """Return the totals of each cluster node; empty for a target with one node."""
        return self._nodes.totals(json.loads(self._sums.nodes()))

    def seconds(self) -> tuple[SecondTotals, ...]:
        """Return each second of the load with its warm-up, over all clients."""
        start_s = self.plan.start_at_epoch_ms // 1000
        return _SECONDS.validate_json(self._sums.seconds(start_s, self.plan.index))

    def p99_medians(self, first: int, past: int) -> dict[str, float]:
        """Return the median of the clients' p99s in a range of seconds, by operation, in us.

        Args:
            first: The first second of the range, counted from the barrier.
            past: The second after the last one.
        """
        return dict(self._sums.p99_medians(first, past))


def fold_clients(plan: StepPlan, results: Iterable[ClientResult]) -> Fold:
    """Add up results that are in memory."""
    fold = Fold(plan)
    for result in results:
        fold.add(result.model_dump_json().encode(), name=f"client {result.client}")
    return fold


def _sum_if_known(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _choose_greater(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _compute_waiting_percent(client: SelfReport) -> float | None:
    """Return how much of its work's time a client waited for a processor; None if unknown."""
    waited_s, worked_s = client.processor_wait_s, client.cpu_user_s + client.cpu_system_s
    if waited_s is None or waited_s + worked_s <= 0:
        return None
    return 100 * waited_s / (waited_s + worked_s)


def _make_node_totals(address: str, node: _Node, merged: Mapping[str, Any]) -> NodeTotals:
    return NodeTotals(
        address=address,
        ring_share=node.ring_shares / node.clients,
        succeeded=node.succeeded,
        errors=dict(node.errors),
        latency_us=LatencySummary.model_validate(merged["latency_us"]),
        histogram=merged["histogram"],
        statements_sent=node.statements_sent,
        taken_over=node.taken_over,
        lost=node.lost,
    )

"""Turns: one copy each, every operation alone in a block of its own, then the mix."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import get_args

import plimsoll_engine
from plimsoll.databases.counting import Totals, WorkCounter, open_work_counter
from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError
from plimsoll.gate.states import Copy, StateSetup, make_copy
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineOperation, LoadSpec
from plimsoll.model.gate import MIX, Count, Counts, Setting, State, Turn

COUNTS: tuple[Count, ...] = get_args(Count)
SETTLE_MAX_S = 5.0  # longest wait before a block for the server's own work
BLOCK_MAX_S = 300.0
SEEDS_OF_PAIR = 10_000  # more than a turn has parts of blocks
FEW = 8  # PostgreSQL plans a statement anew five times
OnTurn = Callable[[str, int], None]  # the state's name, the number of the pair


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        pairs: The turns of each state; a pair has the same order of blocks and the same operations.
        operations: The operations of each block.
        connections: The connections of each block.
        seed: The seed of the operations and of the order of turns and blocks.
    """

    pairs: int
    operations: int
    connections: int
    seed: int


def measure_states(
    states: tuple[StateSetup, ...], extent: Extent, on_turn: OnTurn
) -> tuple[State, ...]:
    """Measure states in turn; the seed draws which state of each pair comes first.

    Args:
        states: Two states, or one that is compared with a stored one.
        extent: How much is measured.
        on_turn: Called before each turn.

    Raises:
        PlimsollError: A server refuses, or a block was interrupted.
    """
    draws = Random(extent.seed)  # noqa: S311 - an order, no secret
    turns: dict[str, list[Turn]] = {state.name: [] for state in states}
    settings: dict[str, Setting] = {}
    with ExitStack() as opened:
        counters = {
            state.name: opened.enter_context(open_work_counter(state.target)) for state in states
        }
        for pair in range(extent.pairs):
            for state in draws.sample(states, len(states)):
                on_turn(state.name, pair)
                counter = counters[state.name]
                with make_copy(state, counter) as copy:
                    try:
                        turns[state.name].append(_measure_turn(copy, counter, extent, pair))
                        if state.name not in settings:
                            settings[state.name] = _read_setting(copy, counter, extent)
                    except PlimsollError as error:
                        raise PlimsollError(f"{state.name}: {error}") from None
    return tuple(
        State(name=name, setting=settings[name], turns=tuple(measured))
        for name, measured in turns.items()
    )


def _read_setting(copy: Copy, counter: WorkCounter, extent: Extent) -> Setting:
    compiled = copy.compiled
    with find_family(copy.target.protocol).open_datasets(copy.target) as datasets:
        server = datasets.version()
    return Setting(
        server=server,
        protocol=copy.target.protocol,
        workload=compiled.name,
        dataset=compiled.dataset,
        records=compiled.records,
        parameters=compiled.dataset_parameters,
        layout=copy.layout,
        server_settings=counter.settings(),
        operations=extent.operations,
        connections=extent.connections,
        seed=extent.seed,
    )


def _measure_turn(copy: Copy, counter: WorkCounter, extent: Extent, pair: int) -> Turn:
    sent = [operation for operation in copy.compiled.engine.operations if operation.weight > 0]
    blocks: dict[str, tuple[EngineOperation, ...]] = {
        operation.name: (operation.model_copy(update={"weight": 1.0}),) for operation in sent
    }
    # Both turns of a pair have one order, since what a block finds depends on those before it.
    draws = Random(f"{extent.seed} {pair}")  # noqa: S311 - an order, no secret
    order = draws.sample(list(blocks), len(blocks))
    if len(blocks) > 1:
        blocks[MIX] = tuple(sent)
        order.append(MIX)
    names = list(blocks)
    measured, settled = {}, True
    for place, name in enumerate(order):
        # Seeds depend on the operation, not on its place: both states get the same operations, and
        # each pair others. If a state's operations draw more values than the other's, theirs are
        # different operations, and only the scatter between pairs tells chance from change.
        seed_offset = SEEDS_OF_PAIR * pair + 3 * names.index(name)
        block = _Block(copy, blocks[name], extent, seed_offset, 3 * place)
        counter.checkpoint(copy.target)
        block.run(extent.operations, part=0)  # fills the caches, and writes the images of pages
        measured[name], quiet = _count_block(block, counter)
        settled &= quiet
    return Turn(blocks={name: measured[name] for name in names}, settled=settled)


@dataclass(frozen=True)
class _Block:
    """The operations of one block.

    Attributes:
        copy: The copy that they are sent to.
        operations: One operation, or all of the mix.
        extent: How much is measured.
        seed_offset: Added to the seed; each part of the block adds its own number.
        load_offset: The number of the first load; each one inserts rows of other numbers.
    """

    copy: Copy
    operations: tuple[EngineOperation, ...]
    extent: Extent
    seed_offset: int
    load_offset: int

    def run(self, operations: int, *, part: int) -> LoadReport:
        """Send operations; `part` (0 to 2) draws others, and inserts rows of its own.

        Raises:
            PlimsollError: The load cannot start, or was interrupted.
        """
        engine = self.copy.compiled.engine_workload(self.load_offset + part)
        spec = LoadSpec(
            target=self.copy.target,
            workload=engine.model_copy(update={"operations": self.operations}),
            connections=self.extent.connections,
            duration_s=BLOCK_MAX_S,
            operations_limit=operations,
            seed=self.extent.seed + self.seed_offset + part,
        )
        try:
            text = plimsoll_engine.run(spec.model_dump_json())
        except plimsoll_engine.EngineError as error:
            raise PlimsollError(str(error)) from None
        return LoadReport.model_validate_json(text)


def _count_block(block: _Block, counter: WorkCounter) -> tuple[Counts, bool]:
    """Return the counts of a block for each operation, and whether the server was quiet before it.

    A load of `FEW` operations is subtracted, with all that logging in, preparing and planning
    statements and reading the counters cost.
    """
    target = block.copy.target
    quiet = counter.settle(target, longest_s=SETTLE_MAX_S)
    with counter.defer_purge(target):  # during both loads: it would begin between them
        start = counter.totals(target)
        less = block.run(FEW, part=1)
        middle = counter.totals(target)
        report = block.run(block.extent.operations, part=2)
        end = counter.totals(target)
    operations = report.operations_sent - less.operations_sent
    if operations <= 0:
        raise PlimsollError("a block sent no operations")
    few, many = _subtract(start, middle), _subtract(middle, end)
    counts: Counts = dict.fromkeys(COUNTS)
    for name in many:
        counts[name] = max(0.0, many[name] - few.get(name, 0.0)) / operations
    return counts | _counts_of_client(report), quiet


def _subtract(before: Totals, after: Totals) -> Totals:
    return {name: after[name] - before[name] for name in after if name in before}


def _counts_of_client(report: LoadReport) -> Counts:
    """Return what the client knows, for each operation that it sent."""
    operations = report.operations_sent
    met = [operation.rows for operation in report.operations.values()]
    errors = sum(sum(operation.errors.values()) for operation in report.operations.values())
    known = [rows for rows in met if rows is not None]
    return {
        "rows_met": sum(known) / operations if len(known) == len(met) else None,
        "statements": (report.statements_sent + report.transaction_commands_sent) / operations,
        "errors": errors / operations,
        "client_cpu_us": report.client.cpu_us_per_operation,
    }

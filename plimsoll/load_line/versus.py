"""Two targets beside each other: pairs of loads until it is decided whether they differ.

The loads of a pair run at the same time where each client and server has cores of its own, else in
turns. Each target can be loaded at its own load line, which is then found first.
"""

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, NoReturn

import plimsoll_engine
from plimsoll.capacity.statistics.pairing import pair_neighbors
from plimsoll.capacity.statistics.sequences import compute_sequence_interval
from plimsoll.complaints import Complaint, Scalar
from plimsoll.errors import OptionError, PlimsollError, UsageError
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.duet import (
    Meet,
    Place,
    divide_cores,
    explain_sharing,
    find_place,
    list_cores,
    run_together,
)
from plimsoll.load_line.find import Asked, find
from plimsoll.load_line.load import SEEDS, Loaded, find_rows, run_load
from plimsoll.load_line.options import FindOptions, LoadOptions
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.load_line.search_loop import Finder, Shows
from plimsoll.model.base import Model
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.run.results import RunResult
from plimsoll.report.words import announce_plan, describe_finished_step
from plimsoll.workload import Workload

ERROR = 0.01  # probability that any of the intervals lacks the ratio
FIRST, SECOND = 0, 1
NAMES = "AB"
# A client that is late by more than its warm-up has a shorter window than the other one
WINDOW_COMMON_SHARE = 0.99
Pair = tuple[float, float]
Measure = Callable[[int], float]
Order = Literal["turns", "together"]
Figure = Literal["throughput", "mean latency"]
Outcome = Literal["they differ", "too small to matter", "not decided"]


class LoadLine(Model):
    """The answer of a target's search."""

    verdict: Verdict
    connections: int
    clients: int  # those of the search, which are threads of this process
    ops_per_second: float  # what the search measured there


class VersusResult(Model):
    """Two targets, measured in pairs until it was decided."""

    servers: tuple[str, str]
    connections: tuple[int, int]
    load_lines: tuple[LoadLine, LoadLine] | None  # None if the load was given
    order: Order
    order_why: str | None  # why the loads took turns; None if that was asked for, or together
    figure: Figure  # the latency with an offered rate, else the throughput
    unit: Literal["ops/s", "us"]
    pairs: tuple[Pair, ...]  # (first target, second target), in order of time
    ratio: float  # second / first: geometric mean of the pairs
    low: float | None  # ends of the confidence sequence; None as long as there are too few pairs
    high: float | None
    confidence: float  # probability that all intervals, after every pair, contain the ratio
    matters_share: float  # a ratio within 1 / (1 + this) and 1 + this is too small to matter
    outcome: Outcome
    seed: int


@dataclass(frozen=True)
class Rules:
    """When a comparison ends.

    Attributes:
        matters_share: The smallest difference that matters, as a share of the first target.
        pairs_max: The number of pairs after which it ends undecided.
    """

    matters_share: float
    pairs_max: int


def compare_in_turns(measure: Measure, rules: Rules, seed: int) -> tuple[list[Pair], Outcome]:
    """Measure two targets in turn; return their pairs, and the outcome.

    Args:
        measure: Measures the target `FIRST` or `SECOND`; returns a figure above 0.
        rules: When it ends.
        seed: The seed of the order within pairs.
    """
    measured: list[tuple[int, float]] = []
    while True:
        pairing = pair_neighbors(measured, lambda one: one[0], (FIRST, SECOND))
        pairs = [(one[1], other[1]) for one, other in pairing.pairs]
        outcome = decide(pairs, rules.matters_share)
        if outcome != "not decided":
            return pairs, outcome
        tries_left = 2 * rules.pairs_max - len(measured)
        state = pairing.next_state(FIRST, wanted=rules.pairs_max, tries_left=tries_left, seed=seed)
        if state is None:
            return pairs, outcome
        measured.append((state, measure(state)))


def compare_together(measure: Callable[[int], Pair], rules: Rules) -> tuple[list[Pair], Outcome]:
    """Measure two targets at the same time; return their pairs, and the outcome.

    Args:
        measure: Measures both in the pair of a number; returns figures above 0.
        rules: When it ends.
    """
    pairs: list[Pair] = []
    while True:
        pairs.append(measure(len(pairs)))
        outcome = decide(pairs, rules.matters_share)
        if outcome != "not decided" or len(pairs) == rules.pairs_max:
            return pairs, outcome


def decide(pairs: Sequence[Pair], matters_share: float) -> Outcome:
    """Return what the pairs so far show."""
    low, high = compute_sequence_interval(_log_ratios(pairs), ERROR)
    least = math.log1p(matters_share)
    if -least < low and high < least:
        return "too small to matter"
    return "they differ" if low > 0 or high < 0 else "not decided"


def _log_ratios(pairs: Sequence[Pair]) -> list[float]:
    return [math.log(second / first) for first, second in pairs]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What to compare, and how.

    Attributes:
        dsns: Both targets, with the same rows, as DSNs that have been parsed.
        targets: The engine's connection settings of both, with credentials.
        workload_name: The name of a built-in workload, or the path of a file.
        workload: The workload of that name.
        parameters: The workload parameters that differ from their defaults.
        options: The options of each load. With a rate the latency is compared, else the throughput.
        search: The options of the searches for both load lines; None to load both as `options` say.
        order: How the loads of a pair run; None for together if they share nothing, else in turns.
        rules: When it ends.
    """

    dsns: tuple[str, str]
    targets: tuple[EngineTarget, EngineTarget]
    workload_name: str
    workload: Workload
    parameters: Mapping[str, Scalar]
    options: LoadOptions
    search: FindOptions | None
    order: Order | None
    rules: Rules


def run_versus(
    asked: Comparison,
    *,
    on_figure: Callable[[int, float], None],
    say: Callable[[str], None],
) -> VersusResult:
    """Load two targets in pairs until it is decided whether they differ.

    Args:
        asked: What to compare, and how.
        on_figure: Called after each load with the target's number and its figure.
        say: Called with what happens before the pairs.

    Raises:
        UsageError: An option is not valid, or asks for loads at the same time that would share
            processors or a server.
        PlimsollError: A target refuses, is unreachable, does not have the rows, served nothing, or
            its search found no load line.
    """
    servers: list[str] = []
    places: list[Place] = []
    for name, target in zip(NAMES, asked.targets, strict=True):
        # both before either is loaded, which may take minutes
        with _name_target(name):
            adapted, notes = adapt_to_pooler(target)
            found = find_rows(adapted, asked.workload, asked.options.records, asked.parameters)
            servers.append(found.server)
            places.append(find_place(target, pooled=bool(notes)))
    where, cores = (places[FIRST], places[SECOND]), list_cores()
    order, why = choose_order(asked, explain_sharing(where, len(cores)))
    say(describe_order(order) + ("" if why is None else f": {why}"))
    seed = secrets.randbelow(SEEDS) if asked.options.seed is None else asked.options.seed
    # both targets get the same operations, and nothing else between the loads
    options = replace(asked.options, seed=seed, conditions=False)
    loads, lines = (options, options), None
    if asked.search is not None:
        (first, a), (second, b) = (
            find_load(asked, number, options, asked.search, say) for number in (FIRST, SECOND)
        )
        loads, lines = (first, second), (a, b)

    def load(
        number: int,
        meet: Meet | None = None,
        token: plimsoll_engine.CancelToken | None = None,
    ) -> Loaded:
        with _name_target(NAMES[number]):
            return run_load(
                asked.targets[number],
                asked.workload,
                asked.parameters,
                loads[number],
                on_second=lambda _: None,
                meet=meet,
                token=token,
            )

    def read(number: int, loaded: Loaded) -> float:
        with _name_target(NAMES[number]):
            figure = read_figure(loaded)
        on_figure(number, figure)
        return figure

    def measure_both(pair: int) -> Pair:
        ours, theirs = divide_cores(cores, where)
        if (pair + seed) % 2:  # processors differ, such as by who handles interrupts
            ours, theirs = theirs, ours
        a, b = run_together(load, (ours, theirs), sum(one.connections for one in loads))
        figures = read(FIRST, a), read(SECOND, b)
        require_common_window(a.report, b.report)
        return figures

    if order == "together":
        pairs, outcome = compare_together(measure_both, asked.rules)
    else:
        pairs, outcome = compare_in_turns(
            lambda number: read(number, load(number)), asked.rules, seed
        )
    ratios = _log_ratios(pairs)
    low, high = compute_sequence_interval(ratios, ERROR)
    known = math.isfinite(low)
    open_loop = options.rate is not None
    return VersusResult(
        servers=(servers[FIRST], servers[SECOND]),
        connections=(loads[FIRST].connections, loads[SECOND].connections),
        load_lines=lines,
        order=order,
        order_why=why,
        figure="mean latency" if open_loop else "throughput",
        unit="us" if open_loop else "ops/s",
        pairs=tuple(pairs),
        ratio=math.exp(fmean(ratios)),
        low=math.exp(low) if known else None,
        high=math.exp(high) if known else None,
        confidence=1 - ERROR,
        matters_share=asked.rules.matters_share,
        outcome=outcome,
        seed=seed,
    )


def describe_order(order: Order) -> str:
    """Describe how the loads of a pair run."""
    return "in turns" if order == "turns" else "at the same time"


def choose_order(asked: Comparison, shared: str | None) -> tuple[Order, str | None]:
    """Return how the loads of a pair run, and why in turns if nobody asked for it.

    Args:
        asked: What is asked for.
        shared: What two loads at the same time would share; None for nothing.

    Raises:
        OptionError: Loads at the same time are asked for, and are not possible.
    """
    if shared is None and asked.options.operations_most is not None:
        shared = "loads that end after a number of operations do not end at the same time"
    if asked.order == "turns":
        return "turns", None
    if shared is None:
        return "together", None
    if asked.order == "together":
        raise OptionError(Complaint(("order",), f"the two loads would not be apart: {shared}"))
    return "turns", shared


def find_load(
    asked: Comparison,
    number: int,
    options: LoadOptions,
    search: FindOptions,
    say: Callable[[str], None],
) -> tuple[LoadOptions, LoadLine]:
    """Find a target's load line; return the options of a load at it, and the answer.

    Raises:
        UsageError: An option is not valid, or the workload would change rows of the user's own.
        PlimsollError: Nothing could be measured, or there is no answer; says the verdict.
    """
    name = NAMES[number]
    of_search = Asked(
        dsn=asked.dsns[number],
        target=asked.targets[number],
        workload_name=asked.workload_name,
        workload=asked.workload,
        parameters=asked.parameters,
        options=search,
    )
    with _name_target(name):
        outcome = find(of_search, _Follower(lambda text: say(f"{name}: {text}")))
        if outcome.cut_short == INTERRUPTED:
            raise KeyboardInterrupt
        line = read_load_line(outcome.result)
    threads = options.threads or line.clients
    return replace(options, connections=line.connections, threads=threads), line


def read_load_line(result: RunResult) -> LoadLine:
    """Return the load line that a search found.

    Raises:
        PlimsollError: It has no figure; says the verdict, or what ended the search.
    """
    capacity = result.capacity
    if capacity is None:
        raise PlimsollError(result.failure.cause if result.failure else "nothing was measured")
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is None or capacity.at is None:
        raise PlimsollError(f"its search has no load line: {capacity.sentence}")
    at = next(one.step for one in result.steps if getattr(one.step, capacity.axis) == capacity.at)
    return LoadLine(
        verdict=capacity.verdict,
        connections=at.connections or 1,
        clients=at.clients or 1,
        ops_per_second=figure,
    )


@dataclass(frozen=True)
class _Follower:
    """The caller of a search, which tells what happens in lines of text."""

    say: Callable[[str], None]

    def may_make_rows(self, _: str) -> bool:
        return False

    def make_rows(self, *_: object) -> NoReturn:
        raise AssertionError("no option asks for rows")  # pragma: no cover

    @contextmanager
    def follow(self, finder: Finder) -> Iterator[Shows]:
        statistic = finder.request.limits.statistic
        with end_on_signals(lambda: finder.end(INTERRUPTED)):
            yield Shows(
                say=self.say,
                planned=lambda plan: self.say(announce_plan(plan)),
                finished=lambda step: self.say(describe_finished_step(step, statistic)),
            )

    def keep(self, *_: object) -> None:
        """Keep nothing: the result has what is used of it."""


def require_common_window(first: LoadReport, second: LoadReport) -> None:
    """Refuse two loads at the same time whose windows are not the same.

    Raises:
        PlimsollError: One of the clients was late by more than its warm-up.
    """
    common_ms = min(first.window_end_epoch_ms, second.window_end_epoch_ms) - max(
        first.window_start_epoch_ms, second.window_start_epoch_ms
    )
    longest_s = max(first.window_s, second.window_s)
    if common_ms < 1000 * longest_s * WINDOW_COMMON_SHARE:
        late_ms = max(first.late_start_ms, second.late_start_ms)
        raise PlimsollError(
            f"the loads were not measured at the same time: a client's connections were open"
            f" {late_ms} ms late; a longer --warmup covers that"
        )


@contextmanager
def _name_target(name: str) -> Iterator[None]:
    """Name the target that an error is of."""
    try:
        yield
    except UsageError:
        raise
    except PlimsollError as error:
        raise PlimsollError(f"{name}: {error}") from None


def read_figure(loaded: Loaded) -> float:
    """Return the throughput of a closed loop, or the mean latency of an open one in microseconds.

    Raises:
        PlimsollError: The load was interrupted, or nothing succeeded.
    """
    report = loaded.report
    succeeded = sum(operation.succeeded for operation in report.operations.values())
    if report.ended == "cancelled":
        raise KeyboardInterrupt
    if not succeeded or not report.window_s:
        raise PlimsollError(f"no operation succeeded on {loaded.loadable.server}")
    if report.rate_ops_per_second is None:
        return succeeded / report.window_s
    return _mean_latency_us(report, succeeded)


def _mean_latency_us(report: LoadReport, succeeded: int) -> float:
    total = sum(
        (operation.latency_us.mean or 0.0) * operation.succeeded
        for operation in report.operations.values()
    )
    return total / succeeded

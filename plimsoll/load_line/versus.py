"""Two targets beside each other: loads in turn until it is decided whether they differ."""

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from plimsoll.capacity.statistics.pairing import pair_neighbors
from plimsoll.capacity.statistics.sequences import sequence_interval
from plimsoll.complaints import Scalar
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load_line.load import SEEDS, Loaded, find_rows, run_load
from plimsoll.load_line.options import LoadOptions
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.model.base import Model
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Workload

ERROR = 0.01  # probability that any of the intervals lacks the ratio
FIRST, SECOND = 0, 1
Measure = Callable[[int], float]
Figure = Literal["throughput", "mean latency"]
Outcome = Literal["they differ", "too small to matter", "not decided"]


class VersusResult(Model):
    """Two targets, measured in turn until it was decided."""

    servers: tuple[str, str]
    figure: Figure  # the latency with an offered rate, else the throughput
    unit: Literal["ops/s", "us"]
    pairs: tuple[tuple[float, float], ...]  # (first target, second target), in order of time
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


def compare_in_turns(
    measure: Measure, rules: Rules, seed: int
) -> tuple[list[tuple[float, float]], Outcome]:
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


def decide(pairs: Sequence[tuple[float, float]], matters_share: float) -> Outcome:
    """Return what the pairs so far show."""
    low, high = sequence_interval(_log_ratios(pairs), ERROR)
    least = math.log1p(matters_share)
    if -least < low and high < least:
        return "too small to matter"
    return "they differ" if low > 0 or high < 0 else "not decided"


def _log_ratios(pairs: Sequence[tuple[float, float]]) -> list[float]:
    return [math.log(second / first) for first, second in pairs]


def run_versus(
    targets: tuple[EngineTarget, EngineTarget],
    workload: Workload,
    parameters: Mapping[str, Scalar],
    options: LoadOptions,
    rules: Rules,
    *,
    on_figure: Callable[[int, float], None],
) -> VersusResult:
    """Load two targets in turn until it is decided whether they differ.

    Args:
        targets: The targets, with the same rows.
        workload: What to send.
        parameters: The workload parameters that differ from their defaults.
        options: The options of each load. With a rate the latency is compared, else the throughput.
        rules: When it ends.
        on_figure: Called after each load with the target's number and its figure.

    Raises:
        PlimsollError: A target refuses, is unreachable, does not have the rows, or served nothing.
    """
    servers = []
    for name, target in zip("AB", targets, strict=True):
        # both before either is loaded, which may take minutes
        with _name_target(name):
            adapted, _ = adapt_to_pooler(target)
            servers.append(find_rows(adapted, workload, options.records, parameters).server)
    seed = secrets.randbelow(SEEDS) if options.seed is None else options.seed
    # both targets get the same operations, and nothing else between the loads
    seeded = replace(options, seed=seed, conditions=False)

    def measure(number: int) -> float:
        with _name_target("AB"[number]):
            loaded = run_load(
                targets[number], workload, parameters, seeded, on_second=lambda _: None
            )
            figure = read_figure(loaded)
        on_figure(number, figure)
        return figure

    pairs, outcome = compare_in_turns(measure, rules, seed)
    ratios = _log_ratios(pairs)
    low, high = sequence_interval(ratios, ERROR)
    known = math.isfinite(low)
    open_loop = options.rate is not None
    return VersusResult(
        servers=(servers[FIRST], servers[SECOND]),
        figure="mean latency" if open_loop else "throughput",
        unit="us" if open_loop else "ops/s",
        pairs=tuple(pairs),
        ratio=math.exp(fmean(ratios)),
        low=math.exp(low) if known else None,
        high=math.exp(high) if known else None,
        confidence=1 - ERROR,
        matters_share=rules.matters_share,
        outcome=outcome,
        seed=seed,
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

"""The result of `plimsoll versus`: two targets beside each other."""

from typing import Literal

from plimsoll.model.base import Model

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

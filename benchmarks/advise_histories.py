"""Histories of I/O by the second whose bursts a minute's mean hides. Imports nothing of Plimsoll.

Each history is one database: so much data, an instance class, the volume that it stands on today,
a base load that follows the day, and one kind of burst of 1 to 20 s. What the owner knows of it is
made in `benchmarks/advise.py` by replaying the seconds on today's volume: minutes' means.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAYS = 7
MINUTES = DAYS * 1440
SECONDS = MINUTES * 60
KINDS = ("calm", "jobs", "chance", "short", "flushes", "scans", "nights", "sale")
SIZES_GIB = (60, 100, 200, 300, 400, 600, 1_000, 2_000)
SMALL_CLASSES = ("db.m6i.large", "db.m6i.xlarge", "db.r6i.xlarge", "db.m6i.2xlarge")
LARGE_CLASSES = ("db.m6i.2xlarge", "db.r6i.2xlarge", "db.m6i.4xlarge", "db.r6i.8xlarge")
PAGE = 16 * 1024


@dataclass(frozen=True)
class Burst:
    """I/Os beyond the base load, at one rate."""

    from_s: int
    lasts_s: int
    iops: float
    bytes_each: float


@dataclass(frozen=True)
class Made:
    """A history, second by second.

    Attributes:
        seed: The seed that makes it again.
        kind: The kind of its bursts.
        ios: I/Os that arrive in each second.
        bytes: Bytes of these I/Os.
        size_gib: Size of the smallest volume that holds the data.
        instance_class: The instance class, which stays.
        volumes: What it may stand on today, type and IOPS: the first that it bears.
    """

    seed: int
    kind: str
    ios: NDArray[np.float64]
    bytes: NDArray[np.float64]
    size_gib: int
    instance_class: str
    volumes: tuple[tuple[str, int | None], ...]


def make_history(seed: int) -> Made:
    """Make the history of a seed: what decides lies on either side of what its size includes."""
    draw = np.random.default_rng([4301, seed])
    kind = KINDS[seed % len(KINDS)]
    at = int(draw.integers(len(SIZES_GIB)))
    size_gib = SIZES_GIB[at]
    large = size_gib >= 400
    instance_class = str(draw.choice(LARGE_CLASSES if large else SMALL_CLASSES))
    included = 12_000 if large else 3_000
    mean = included * float(np.exp(draw.uniform(np.log(0.04), np.log(0.5))))
    peak = included * float(np.exp(draw.uniform(np.log(0.4), np.log(3))))
    peak_bytes = (
        (500 if large else 125) * 2**20 * float(np.exp(draw.uniform(np.log(0.4), np.log(2))))
    )
    ios = _draw_base_load(draw, mean)
    bytes_ = ios * PAGE
    for burst in _draw_bursts(draw, kind, peak, peak_bytes):
        to_s = burst.from_s + burst.lasts_s
        ios[burst.from_s : to_s] += burst.iops
        bytes_[burst.from_s : to_s] += burst.iops * burst.bytes_each
    volumes = tuple(_draw_volumes_of_today(draw, size_gib))
    return Made(seed, kind, ios, bytes_, size_gib, instance_class, volumes)


def _draw_base_load(draw: np.random.Generator, mean: float) -> NDArray[np.float64]:
    """Draw each second's I/Os: a day's curve, a quieter weekend, minutes and seconds that vary."""
    minutes = np.arange(MINUTES)
    depth, noon = draw.uniform(0.1, 0.7), draw.uniform(600, 1_000)
    curve = 1 + depth * np.cos(2 * np.pi * (minutes - noon) / 1440)
    curve[minutes // 1440 >= 5] *= draw.uniform(0.5, 1)
    slow = np.zeros(MINUTES)
    for minute, step in enumerate(draw.normal(0, 0.03, MINUTES)):
        slow[minute] = 0.9 * slow[minute - 1] + step
    rates = np.repeat(mean * curve * np.exp(slow), 60) * draw.gamma(25, 1 / 25, SECONDS)
    return draw.poisson(rates).astype(np.float64)


def _draw_bursts(  # noqa: C901 - an arm for each kind
    draw: np.random.Generator, kind: str, peak: float, peak_bytes: float
) -> Iterator[Burst]:
    """Draw the bursts of a kind, each at about the peak that is given."""

    def draw_some(
        count: float,
        lasts: tuple[int, int],
        *,
        spread: float = 0.2,
        window_s: tuple[int, int] = (0, SECONDS),
        bytes_each: float = PAGE,
        iops: float = peak,
    ) -> Iterator[Burst]:
        for start in draw.integers(window_s[0], window_s[1] - 60, draw.poisson(count)):
            lasts_s = int(draw.integers(lasts[0], lasts[1] + 1))
            yield Burst(int(start), lasts_s, iops * float(draw.lognormal(0, spread)), bytes_each)

    match kind:
        case "calm":  # too few to matter
            yield from draw_some(2 * DAYS, (1, 3))
        case "jobs":  # each some minutes, always as long
            lasts_s, second = int(draw.integers(2, 16)), int(draw.integers(60))
            for start in range(second, SECONDS - 60, 60 * int(draw.choice([5, 10, 15, 60]))):
                yield Burst(start, lasts_s, peak * float(draw.lognormal(0, 0.1)), PAGE)
        case "chance":
            yield from draw_some(draw.uniform(20, 200) * DAYS, (1, 20))
        case "short":
            yield from draw_some(draw.uniform(100, 600) * DAYS, (1, 4))
        case "flushes":  # checkpoints
            lasts_s = int(draw.integers(8, 21))
            for start in range(0, SECONDS - 60, 60 * int(draw.choice([3, 5]))):
                yield Burst(start, lasts_s, peak * float(draw.lognormal(0, 0.1)), PAGE)
        case "scans":  # large reads
            each = 1024.0 * float(draw.choice([64, 128, 256]))
            yield from draw_some(
                draw.uniform(20, 150) * DAYS, (5, 20), bytes_each=each, iops=peak_bytes / each
            )
        case "nights":  # an hour of bursts each night
            begin = int(draw.integers(0, 82_000))
            for day in range(DAYS):
                window_s = (86_400 * day + begin, 86_400 * day + begin + 3_600)
                yield from draw_some(40, (3, 20), window_s=window_s)
        case _:  # one day of heavy bursts
            day = 86_400 * int(draw.integers(DAYS))
            yield from draw_some(400, (1, 20), window_s=(day, day + 86_400))


def _draw_volumes_of_today(
    draw: np.random.Generator, size_gib: int
) -> Iterator[tuple[str, int | None]]:
    """Draw what owners have, mostly what its size includes; then what they change to in need."""
    how = draw.random()
    if how < 0.2:
        yield "gp2", None
    if how < 0.65:
        yield "gp3", None
    if size_gib >= 400:
        for thousands in sorted(draw.integers(13, 60, 3)):
            yield "gp3", 1_000 * int(thousands)
    else:
        for thousands in sorted(draw.integers(2, 15, 3)):
            yield "io1", min(50 * max(100, size_gib), 1_000 * int(thousands))

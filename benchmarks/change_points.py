"""False alarms and delays of a check's messages: the table of docs/evidence/checks.md.

    .venv/bin/python -m benchmarks.change_points --histories 70    # about six minutes on two cores
    .venv/bin/python -m benchmarks.change_points --histories 4 --print

Synthetic histories with a known drop or none, each judged run by run as `judge-check` does, with
what was announced remembered: an alarm is a message, as an operator sees it. Nothing is timed. The
seeds are not those by which the laws were chosen. The table replaces what stands between the marks
in docs/evidence/checks.md, so that no figure there was typed.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, product
from math import sqrt
from pathlib import Path
from statistics import fmean, median

import numpy as np

from benchmarks.pages import publish
from plimsoll.checks.judging import find_regressions
from plimsoll.model.request.check import Check
from plimsoll.model.run.check_history import Announced, HistoryPoint
from tests.unit.checks.histories import check, history

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "checks.md"
RUNS = 100  # of a history without a drop
CHANGE = 50  # the first run after a drop
RUNS_AFTER = 30  # of a history with a drop
IN_TIME = 10  # runs within which a drop is to be seen
DROPS = (0.05, 0.10, 0.20)
LEVEL = 1000.0
SEED = 20260  # of the table; the laws were chosen with others
CORRELATION = 0.7
OUTLIER_SHARE = 1 / 20
OUTLIER_FACTOR = 0.7

Noise = np.ndarray[tuple[int], np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, int], Noise]


def normal(cv: float) -> Draw:
    """Each run is apart from the others."""
    return lambda random, runs: 1 + cv * random.standard_normal(runs)


def with_outliers(cv: float) -> Draw:
    """One run in twenty is far too low, the others are normal."""

    def draw(random: np.random.Generator, runs: int) -> Noise:
        low = random.random(runs) < OUTLIER_SHARE
        return normal(cv)(random, runs) * np.where(low, OUTLIER_FACTOR, 1.0)

    return draw


def correlated(cv: float) -> Draw:
    """Each run resembles the one before it: AR(1), stationary, of this coefficient of variation."""

    def draw(random: np.random.Generator, runs: int) -> Noise:
        states = [random.standard_normal()]
        for news in random.standard_normal(runs - 1):
            states.append(CORRELATION * states[-1] + sqrt(1 - CORRELATION**2) * news)
        return 1 + cv * np.asarray(states)

    return draw


WORLDS = {
    "normal, 2 %": normal(0.02),
    "normal, 5 %": normal(0.05),
    "normal, 10 %": normal(0.10),
    "normal, 5 %; one run in twenty 30 % lower": with_outliers(0.05),
    "correlated (AR 0.7), 5 %": correlated(0.05),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The messages of one history: after which run each was sent."""

    without_drop: tuple[int, ...]
    with_drop: dict[float, tuple[int, ...]]  # by the size of the drop, those after it


def messages(
    watched: Check, points: Sequence[HistoryPoint], first: int, announced: Sequence[Announced]
) -> tuple[list[int], list[Announced]]:
    """Judge run by run from a number of known runs on: the runs after which messages were sent."""
    known_of = list(announced)
    sent = []
    for known in range(first, len(points) + 1):
        for one in find_regressions(watched, points[:known], known_of):
            through = points[known - 1].scheduled_at
            known_of.append(Announced(metric="capacity", at=one.change.at, through=through))
            sent.append(known - 1)
    return sent, known_of


def outcome(world: str, seed: int) -> Outcome:
    """Judge one noise without a drop, and with drops of each size from the same run on."""
    random = np.random.default_rng([SEED, seed, list(WORLDS).index(world)])
    figures = LEVEL * WORLDS[world](random, RUNS)
    watched = check()
    before, announced = messages(watched, history(figures[:CHANGE].tolist()), 1, ())
    later, _ = messages(watched, history(figures.tolist()), CHANGE + 1, announced)
    with_drop = {}
    for drop in DROPS:
        dropped = figures[: CHANGE + RUNS_AFTER].copy()
        dropped[CHANGE:] *= 1 - drop
        sent, _ = messages(watched, history(dropped.tolist()), CHANGE + 1, announced)
        with_drop[drop] = tuple(sent)
    return Outcome((*before, *later), with_drop)


def rows_of(world: str, outcomes: Sequence[Outcome]) -> list[str]:
    """One row for each drop, and its share of histories, delay and further messages."""
    false = [len(one.without_drop) for one in outcomes]  # each in RUNS, which are 100
    error = float(np.std(false)) / sqrt(len(false))
    rows = [f"| {world} | none | {fmean(false):.2f} ± {error:.2f} | - | - | - |"]
    for drop in DROPS:
        sent = [one.with_drop[drop] for one in outcomes]
        delays = [runs[0] - CHANGE + 1 for runs in sent if runs]
        in_time = sum(delay <= IN_TIME for delay in delays) / len(outcomes)
        further = sum(max(0, len(runs) - 1) for runs in sent) / len(outcomes)
        high = np.percentile(delays, 90, method="higher") if delays else 0
        delay = f"{median(delays):g} ({high:g})" if delays else "-"
        rows.append(f"| {world} | {drop:.0%} | | {in_time:.0%} | {delay} | {further:.2f} |")
    return rows


def table(by_world: Mapping[str, Sequence[Outcome]]) -> str:
    """Draw the outcomes of as many histories of each noise."""
    titles = ("noise", "drop", "false alarms in 100 runs", f"seen within {IN_TIME} runs",
              f"delay in runs, median (90 %) of those seen within {RUNS_AFTER}",
              "further messages")  # fmt: skip
    rows = chain.from_iterable(rows_of(world, found) for world, found in by_world.items())
    head = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    histories = min(map(len, by_world.values()))
    return "\n".join(
        [*head, *rows, "", f"{histories} histories of each noise; ±: one standard error."]
    )


def all_outcomes(histories: int) -> dict[str, list[Outcome]]:
    """Judge so many histories of each noise."""
    by_world: dict[str, list[Outcome]] = {world: [] for world in WORLDS}
    seeds, worlds = zip(*product(range(histories), WORLDS), strict=True)
    with ProcessPoolExecutor() as pool:
        for world, found in zip(worlds, pool.map(outcome, worlds, seeds), strict=True):
            by_world[world].append(found)
    return by_world


def main() -> None:
    """Make the table, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--histories", type=int, default=70)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    publish(
        {"default": table(all_outcomes(options.histories))}, PAGE, only_print=options.only_print
    )


if __name__ == "__main__":
    main()

"""False alarms and delays of a check's change points: the tables of docs/checks.md.

    .venv/bin/python -m benchmarks.change_points            # about ten minutes
    .venv/bin/python -m benchmarks.change_points --histories 20 --print

Synthetic histories with a known change, each judged run by run as `judge-check` does, with what was
announced remembered. Nothing is timed. The tables replace what stands between the marks in
docs/checks.md, so that no figure there was typed.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.pages import publish
from plimsoll.checks.changes import regressions
from plimsoll.model.check import Announced, Check, Figure, HistoryPoint, RunOfCheck
from plimsoll.model.run_record import RunState
from tests.support.requested import REQUESTED

PAGE = Path(__file__).parent.parent / "docs" / "checks.md"
RUNS = 100  # of each history
CHANGE = 50  # the first run after the change
SIZES = (0.0, 0.05, 0.10, 0.20)  # less throughput by this share
CVS = (0.02, 0.05, 0.10)
LEVEL = 1000.0
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def history(size: float, cv: float, seed: int) -> list[HistoryPoint]:
    """Draw a history: normal noise of a coefficient of variation, one drop or none."""
    noise = np.random.default_rng([seed, round(size * 100), round(cv * 100)])
    levels = [LEVEL * (1 - size * (index >= CHANGE)) for index in range(RUNS)]
    return [
        HistoryPoint(
            scheduled_at=FIRST + timedelta(days=index),
            target=RunOfCheck(
                run_id=str(index),
                comparable="same",
                state=RunState.SUCCEEDED,
                figures={"capacity": Figure(value=level * (1 + cv * noise.standard_normal()))},
            ),
        )
        for index, level in enumerate(levels)
    ]


def messages(check: Check, points: Sequence[HistoryPoint]) -> list[tuple[int, int]]:
    """Judge run by run: (first run after an announced change, run after which it was announced)."""
    announced: list[Announced] = []
    sent = []
    for known in range(1, len(points) + 1):
        for one in regressions(check, points[:known], announced):
            announced.append(
                Announced(
                    metric="capacity", at=one.change.at, through=points[known - 1].scheduled_at
                )
            )
            sent.append((int(one.change.run_id or 0), known - 1))
    return sent


@dataclass(frozen=True)
class Score:
    """What came of many histories of one kind."""

    false_per_100_runs: float  # messages of a change where there was none yet
    told_share: float | None  # of the changes; None: there was none
    delays: tuple[int, ...]  # runs from the change to its message, that run included
    repeats: int  # messages of a change after its first

    @property
    def delay(self) -> str:
        """The median and the 90th percentile."""
        if not self.delays:
            return "-"
        high = np.percentile(self.delays, 90, method="higher")
        return f"{median(self.delays):g} ({high:g})"


def score(case: tuple[float, float, float, int]) -> Score:
    """Judge many histories of one kind: size of the change, noise, `min_change`, how many."""
    size, cv, min_change, histories = case
    check = Check.model_validate(
        {
            "name": "synthetic",
            "schedule": "rate(1 day)",
            "request": REQUESTED,  # not run: the figures are drawn
            "thresholds": {"min_change": min_change},
        }
    )
    first_real = CHANGE if size else RUNS
    false = 0
    delays = []
    repeats = 0
    for seed in range(histories):
        sent = messages(check, history(size, cv, seed))
        real = [after for _, after in sent if after >= first_real]
        false += len(sent) - len(real)
        repeats += max(0, len(real) - 1)
        delays += [real[0] - CHANGE + 1] if real else []
    return Score(
        false_per_100_runs=false / (histories * first_real) * 100,
        told_share=len(delays) / histories if size else None,
        delays=tuple(delays),
        repeats=repeats,
    )


def table(histories: int, min_change: float, sizes: Sequence[float]) -> str:
    """One row for each noise and size."""
    cases = [(size, cv, min_change, histories) for cv in CVS for size in sizes]
    titles = ("noise (CV)", "drop", "announced within 50 runs", "delay in runs, median (90 %)",
              "further messages of it", "false alarms in 100 runs")  # fmt: skip
    rows = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    with ProcessPoolExecutor() as pool:
        for case, found in zip(cases, pool.map(score, cases), strict=True):
            size, cv, _, _ = case
            announced = "-" if found.told_share is None else f"{found.told_share:.0%}"
            repeats = "-" if found.told_share is None else f"{found.repeats / histories:.2f}"
            rows.append(
                f"| {cv:.0%} | {f'{size:.0%}' if size else 'none'} | {announced} | {found.delay} "
                f"| {repeats} | {found.false_per_100_runs:.2f} |"
            )
    return "\n".join([*rows, "", f"{histories} histories for each row."])


def main() -> None:
    """Make the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    tables = {
        "default": table(options.histories, 0.05, SIZES),
        "sensitive": table(options.histories, 0.02, SIZES[:2]),
    }
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

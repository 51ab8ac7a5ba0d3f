"""What a search answers where the log lends throughput: the tables of docs/evidence/write-debt.md.

    .venv/bin/python -m benchmarks.capacity_redo            # some minutes on two cores
    .venv/bin/python -m benchmarks.capacity_redo --seeds 8 --print

Simulated servers (`tests/unit/capacity/redo_worlds.py`) with logs of 60, 300 and 1,200 s, with the
gaps of `plimsoll find` and of a fleet on AWS, and cleaning at the full rate while they are idle.
None of the seeds served for tuning. Nothing is timed.
"""

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.capacity import FIRST_SEED
from benchmarks.pages import publish
from tests.unit.capacity.redo_worlds import SEARCHES, RedoWorld, Searcher, truth
from tests.unit.capacity.trials import OVER_CLAIM

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "write-debt.md"
LOGS_S = (60, 300, 1200)
FLEET_GAP_S = 24.0  # 20 s + 10 ms for each client, and planning
WORLDS = {
    f"{log_s:,} s, {'adaptive' if adaptive else 'constant'}": RedoWorld(log_s, adaptive)
    for log_s in LOGS_S
    for adaptive in (False, True)
}

Case = tuple[RedoWorld, str, int, bool]  # world, strategy, seed, blind


@dataclass(frozen=True)
class Found:
    """What became of one search."""

    verdict: str
    figure: float | None
    steps: int
    hours: float


def run_search(case: Case) -> Found:
    """Carry a search through."""
    world, strategy, seed, blind = case
    searcher = Searcher(world, seed, blind=blind)
    capacity = searcher.search(SEARCHES[strategy])
    figure = None if capacity.bound == "<" else capacity.max_sustainable_throughput_ops_per_second
    return Found(capacity.verdict, figure, len(searcher.steps), searcher.took_s / 3600)


def _place(world: RedoWorld) -> RedoWorld:
    return replace(world, gap_s=FLEET_GAP_S, fleet=True)


def redo_table(seeds: int, pool: ProcessPoolExecutor, *, blind: bool) -> str:
    """Every world with both gaps and each strategy."""
    names = "log, cleaning | gaps | strategy | over-claims | figure / truth | no figure | verdicts"
    rows = [f"| {names} | steps | hours |", "|---" * 9 + "|"]
    truths = dict(zip(WORLDS, pool.map(truth, WORLDS.values()), strict=True))
    for name, world in WORLDS.items():
        for gaps, placed in (("find", world), ("fleet", _place(world))):
            for strategy in SEARCHES:
                cases = [(placed, strategy, FIRST_SEED + n, blind) for n in range(seeds)]
                found = list(pool.map(run_search, cases))
                ratios = [each.figure / truths[name] for each in found if each.figure]
                over = sum(ratio > 1 + OVER_CLAIM for ratio in ratios)
                spread = "-"
                if ratios:
                    spread = f"{min(ratios):.2f} to {max(ratios):.2f}, {median(ratios):.2f}"
                verdicts = Counter(each.verdict for each in found).most_common()
                rows.append(
                    f"| {name} | {gaps} | {strategy} | {over / seeds:.1%}"
                    f" | {spread} | {1 - len(ratios) / seeds:.0%}"
                    f" | {', '.join(f'{count} {verdict}' for verdict, count in verdicts)}"
                    f" | {median(each.steps for each in found):.0f}"
                    f" | {median(each.hours for each in found):.1f} |"
                )
    return "\n".join([*rows, "", f"{seeds} seeds for each row. Figure / truth: range, median."])


def main() -> None:
    """Make the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        tables = {
            "redo": redo_table(options.seeds, pool, blind=False),
            "blind": redo_table(options.seeds, pool, blind=True),
        }
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

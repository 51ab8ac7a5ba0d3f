"""How often two searches are told to differ: a table of docs/evidence/search.md.

    .venv/bin/python -m benchmarks.capacity_comparing            # some minutes on two cores
    .venv/bin/python -m benchmarks.capacity_comparing --pairs 20 --print

Pairs of searches on one simulated database, which do not differ, and on a database and its like
that is 10 % slower, judged as `plimsoll compare` does. Half of the pairs are on the databases of
`benchmarks.capacity`, half on its load curves. None of the seeds served for tuning. Nothing is
timed.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from typing import NamedTuple

from benchmarks.capacity import CURVES, PAGE, STRATEGIES
from benchmarks.pages import publish
from plimsoll.model.judging.capacity import Capacity
from plimsoll.report.comparing.ratios import divide_capacities
from tests.unit.capacity.simulators import World, draw_target, slow_down
from tests.unit.capacity.trials import run, search_for, shifted, targets

FIRST_SEED = 80_000_000
NOISES = (0.02, 0.05, 0.10)
KNOWN = [target for target in targets() if target.name != "client-bound"]


class Told(NamedTuple):
    """What is said of two searches on one database, and of one on a slower one."""

    alike: bool | None  # whether they are told to differ; None without two figures
    slower: bool | None  # whether the slower one is told to be slower, likewise
    faster: bool  # whether it is told to be faster


def compare(case: tuple[str, float, int, int]) -> Told:
    """Carry three searches through and compare them: strategy, noise, number of the pair, seed."""
    strategy, noise, number, seed = case
    place = number // 2
    curved = number % 2
    target = draw_target(CURVES[place % len(CURVES)]) if curved else KNOWN[place % len(KNOWN)]
    search = search_for(strategy, target)
    first, second, slow = (
        run(shifted(search, seed + n), each, World(noise=noise), seed + n).capacity
        for n, each in enumerate((target, target, slow_down(target)))
    )
    slower = _divide(slow, first)
    return Told(
        alike=None if (alike := _divide(second, first)) is None else alike != 0,
        slower=None if slower is None else slower < 0,
        faster=slower is not None and slower > 0,
    )


def _divide(a: Capacity, b: Capacity) -> int | None:
    """Return -1 if `a` is told to be lower, 1 if higher, 0 if neither; None without two figures."""
    ratio = divide_capacities("a", a, "b", b)
    if ratio is None or (ratio.low is None and ratio.bound == "="):
        return None
    if not ratio.differs:
        return 0
    return 1 if ratio.value > 1 else -1


def write_table(pairs: int, pool: ProcessPoolExecutor) -> str:
    """Write how often searches are told to differ, by strategy and noise."""
    rows = [
        "| strategy | noise | alike, told to differ | 10 % slower, seen | told to be faster |",
        "|---|---|---|---|---|",
    ]
    seeds = count(FIRST_SEED, 3)
    for strategy in STRATEGIES:
        for noise in NOISES:
            cases = [(strategy, noise, number, next(seeds)) for number in range(pairs)]
            told = list(pool.map(compare, cases, chunksize=4))
            rows.append(
                f"| {strategy} | {noise:.0%} | {_share([one.alike for one in told])}"
                f" | {_share([one.slower for one in told])} | {sum(one.faster for one in told)} |"
            )
    return "\n".join([*rows, "", f"{pairs} pairs for each row; those with two figures count."])


def _share(told: Sequence[bool | None]) -> str:
    known = [one for one in told if one is not None]
    return f"{sum(known)} of {len(known)} ({sum(known) / len(known):.1%})"


def main() -> None:
    """Make the table, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=240)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        tables = {"comparisons": write_table(options.pairs, pool)}
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

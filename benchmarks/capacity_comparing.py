"""How often searches that are alike are told to differ: tables of docs/evidence.

    .venv/bin/python -m benchmarks.capacity_comparing pairs      # some minutes on two cores
    .venv/bin/python -m benchmarks.capacity_comparing effects --count 20 --print

`pairs`: pairs of searches on one simulated database, which do not differ, and on a database and its
like that is 10 % slower, judged as `plimsoll compare` does (docs/evidence/search.md). `effects`:
experiments of 2 x 2 and 2 x 3 cells, likewise, judged as experiments judge them
(docs/evidence/experiments.md). Half are on the databases of `benchmarks.capacity`, half on its load
curves. None of the seeds served for tuning. Nothing is timed.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count, pairwise
from random import Random
from typing import NamedTuple

from benchmarks.capacity import CURVES, PAGE, STRATEGIES
from benchmarks.pages import publish
from plimsoll.capacity.statistics.contrasts import Estimate, estimate_mean
from plimsoll.capacity.statistics.factorial import Effects, estimate_effects
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.experiment_record import Effect
from plimsoll.report.comparing.ratios import (
    divide_capacities,
    estimate_answer,
    list_repetitions,
)
from tests.unit.capacity.simulators import Target, World, answer, draw_target, slow_down
from tests.unit.capacity.trials import run, search_for, shifted, targets, true_edge

FIRST_SEED = 80_000_000
NOISES = (0.02, 0.05, 0.10)
KNOWN = [target for target in targets() if target.name != "client-bound"]


class Told(NamedTuple):
    """What is said of two searches on one database, and of one on a slower one."""

    alike: bool | None  # whether they are told to differ; None without two figures
    slower: bool | None  # whether the slower one is told to be slower, likewise
    faster: bool  # whether it is told to be faster


def _pick_target(number: int) -> Target:
    place = number // 2
    curved = number % 2
    return draw_target(CURVES[place % len(CURVES)]) if curved else KNOWN[place % len(KNOWN)]


def compare(case: tuple[str, float, int, int]) -> Told:
    """Carry three searches through and compare them: strategy, noise, number of the pair, seed."""
    strategy, noise, number, seed = case
    target = _pick_target(number)
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


def write_pairs(pairs: int, pool: ProcessPoolExecutor) -> dict[str, str]:
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
    note = f"{pairs} pairs for each row; those with two figures count."
    return {"comparisons": "\n".join([*rows, "", note])}


class Square(NamedTuple):
    """What is said of experiments on one database; None where a cell has no exact figure."""

    alike: Effects | None  # 2 x 2 alike cells
    repetitions_alone: Effects | None  # likewise, by the scatter of the repetitions alone
    gain: Effects | None  # the second variant of one axis is 10 % slower
    one_cell: Effects | None  # one of the four cells is
    steps_up: tuple[bool, ...]  # 2 x 3 alike cells: whether neighbors are told to differ ...
    chosen: tuple[bool, ...]  # ... and the best from the second


def experiment(case: tuple[str, float, int, int]) -> Square:
    """Carry the searches of experiments through: strategy, noise, their number, seed."""
    strategy, noise, number, seed = case
    target = _pick_target(number)
    search, slow = search_for(strategy, target), slow_down(target)
    found = [
        run(shifted(search, seed + n), each, World(noise=noise), seed + n).capacity
        for n, each in enumerate((*[target] * 6, slow, slow))
    ]
    a, b, c, d, e, f, lower, lowest = found
    triples = (a, b, e), (c, d, f)
    ratios = [_divide(two, one) for of in triples for one, two in pairwise(of)]
    best = [_divide(*sorted(of, key=_figure)[:0:-1]) for of in triples]
    return Square(
        alike=_find_effects((a, b, c, d), estimate_answer),
        repetitions_alone=_find_effects((a, b, c, d), _estimate_repetitions),
        gain=_find_effects((a, lower, b, lowest), estimate_answer),
        one_cell=_find_effects((a, b, c, lower), estimate_answer),
        steps_up=tuple(bool(told) for told in ratios if told is not None),
        chosen=tuple(bool(told) for told in best if told is not None),
    )


def at_one_load(case: tuple[int, float, int, int]) -> Square:
    """Repeat one load in place of searching: repetitions, noise, number of the experiment, seed."""
    repetitions, noise, number, seed = case
    target, random = _pick_target(number), Random(seed)  # noqa: S311 - noise, no secret
    load = max(1, round(true_edge(search_for("steps", target), target) / 2))
    wish = NextStep(
        index=0, clients=load, connections=load, rate_ops_per_second=None, purpose="climb", why=""
    )
    a, b, c, d, lower, lowest = (
        estimate_mean(
            [
                answer(each, wish, World(noise=noise), random).throughput_ops_per_second or 0.0
                for _ in range(repetitions)
            ]
        )
        for each in (*[target] * 4, *[slow_down(target)] * 2)
    )
    return Square(
        alike=(alike := estimate_effects((a, b, c, d))),
        repetitions_alone=alike,
        gain=estimate_effects((a, lower, b, lowest)),
        one_cell=estimate_effects((a, b, c, lower)),
        steps_up=(),
        chosen=(),
    )


def _find_effects(
    cells: Sequence[Capacity], estimate: Callable[[Capacity], Estimate]
) -> Effects | None:
    if any(cell.bound != "=" for cell in cells):
        return None
    return estimate_effects([estimate(cell) for cell in cells])


def _estimate_repetitions(capacity: Capacity) -> Estimate:
    return estimate_mean(list_repetitions(capacity))


def _figure(capacity: Capacity) -> float:
    bounded = capacity.bound in {"=", ">="}
    return (bounded and capacity.max_sustainable_throughput_ops_per_second) or 0.0


def write_effects(experiments: int, pool: ProcessPoolExecutor) -> dict[str, str]:
    """Write how often experiments tell of effects, by strategy and noise."""
    head = (
        "| {} | noise | alike: main effect | interaction | by repetitions alone |"
        " 10 % on an axis: seen | 10 % in one cell: gain seen | interaction seen |"
    )
    rows = [head.format("strategy"), "|---" * 8 + "|"]
    threes = [
        "| strategy | noise | step up: a gain or a loss | best of three chosen |",
        "|---|---|---|---|",
    ]
    seeds = count(FIRST_SEED + 10_000_000, 8)
    for strategy in STRATEGIES:
        for noise in NOISES:
            cases = [(strategy, noise, number, next(seeds)) for number in range(experiments)]
            told = list(pool.map(experiment, cases, chunksize=4))
            rows.append(f"| {strategy} | {noise:.0%} | {_describe_squares(told)} |")
            up = [each for one in told for each in one.steps_up]
            best = [each for one in told for each in one.chosen]
            threes.append(f"| {strategy} | {noise:.0%} | {_share(up)} | {_share(best)} |")
    loads = [head.format("repetitions"), rows[1]]
    for repetitions in (8, 20):
        for noise in NOISES:
            steady = [(repetitions, noise, number, next(seeds)) for number in range(experiments)]
            told = list(pool.map(at_one_load, steady, chunksize=16))
            loads.append(f"| {repetitions} | {noise:.0%} | {_describe_squares(told)} |")
    note = f"{experiments} experiments for each row; those with four exact figures count."
    return {
        "effects": "\n".join([*rows, "", note]),
        "three targets": "\n".join(threes),
        "one load": "\n".join(loads),
    }


def _describe_squares(told: Sequence[Square]) -> str:
    def share(effects: Iterable[Effect]) -> str:
        known = [one for one in effects if one.low and one.high]
        seen = sum(one.low > 1 or one.high < 1 for one in known if one.low and one.high)
        return f"{seen / len(known):.1%} of {len(known)}" if known else "no interval"

    alike, alone = [one.alike for one in told], [one.repetitions_alone for one in told]
    one_cell = [one.one_cell for one in told]
    parts = (
        share(effect for one in alike if one for effect in (one.first, one.second)),
        share(one.interaction for one in alike if one),
        share(
            effect for one in alone if one for effect in (one.first, one.second, one.interaction)
        ),
        share(one.gain.second for one in told if one.gain),
        share(one.second_at_high for one in one_cell if one),
        share(one.interaction for one in one_cell if one),
    )
    return " | ".join(parts)


def _share(told: Sequence[bool | None]) -> str:
    known = [one for one in told if one is not None]
    return f"{sum(known)} of {len(known)} ({sum(known) / len(known):.1%})"


def main() -> None:
    """Make the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tables", choices=("pairs", "effects"))
    parser.add_argument("--count", type=int, default=240, help="pairs, or experiments, of each row")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    write, page = {
        "pairs": (write_pairs, PAGE),
        "effects": (write_effects, PAGE.with_name("experiments.md")),
    }[options.tables]
    with ProcessPoolExecutor(options.processes) as pool:
        tables = write(options.count, pool)
    publish(tables, page, only_print=options.only_print)


if __name__ == "__main__":
    main()

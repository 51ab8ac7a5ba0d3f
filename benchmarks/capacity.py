"""How far a search can be trusted, and what its interval covers: the tables of docs/method.md.

    .venv/bin/python -m benchmarks.capacity            # about ten minutes on two cores
    .venv/bin/python -m benchmarks.capacity --seeds 20 --print

Simulated databases of known capacity (`tests/unit/capacity/simulators.py`), every strategy, three
noises, hundreds of seeds each. Nothing is timed. The tables replace what stands between the marks
in docs/method.md, so that no figure there was typed.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.pages import publish
from plimsoll.capacity.intervals import BOOTSTRAP_FROM
from plimsoll.model.capacity import Rules
from tests.unit.capacity.test_intervals import coverage
from tests.unit.capacity.trials import Score, score, targets

PAGE = Path(__file__).parent.parent / "docs" / "method.md"
STRATEGIES = ("steps", "ramp", "rate")
NOISES = (0.0, 0.05, 0.10)
REPETITIONS = (3, 4, 5, 8, 10, 12)
PEERS = Rules(confirmation=None)


def scored(case: tuple[str, str, float, int, bool]) -> Score:
    """Score one strategy on one target; the last part of the case asks for what peers do."""
    strategy, name, noise, seeds, peers = case
    target = {target.name: target for target in targets()}[name]
    return score(strategy, target, noise, range(seeds), PEERS if peers else Rules())


def covered(case: tuple[int, float, int]) -> float:
    """Share of intervals that hold the truth: repetitions, noise, trials."""
    return coverage(*case)


def search_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """Every strategy on every target at every noise."""
    cases = [
        (strategy, target.name, noise, seeds, False)
        for noise in NOISES
        for strategy in STRATEGIES
        for target in targets()
    ]
    rows = [
        "| noise | strategy | target | over-claims | conservative | no figure | probes |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, found in zip(cases, pool.map(scored, cases), strict=True):
        strategy, target, noise, _, _ = case
        timid = "-" if found.unanswered == 1 else f"{found.conservative:.1%}"
        rows.append(
            f"| {noise:.0%} | {strategy} | {target} | {found.over_claims:.1%} | {timid} "
            f"| {found.unanswered:.1%} | {found.probes_median:.0f} (at most {found.probes_max}) |"
        )
    return "\n".join([*rows, "", f"{seeds} seeds for each row."])


def peers_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """The same searches with each load tried once."""
    names = [target.name for target in targets() if target.name != "client-bound"]
    cases = [(strategy, name, 0.10, seeds, True) for strategy in STRATEGIES for name in names]
    rows = ["| strategy | target | over-claims | conservative |", "|---|---|---|---|"]
    for case, found in zip(cases, pool.map(scored, cases), strict=True):
        rows.append(
            f"| {case[0]} | {case[1]} | {found.over_claims:.1%} | {found.conservative:.1%} |"
        )
    return "\n".join([*rows, "", f"10 % noise, {seeds} seeds for each row."])


def coverage_table(trials: int, pool: ProcessPoolExecutor) -> str:
    """What the 95 % interval covers, by number of repetitions."""
    cases = [(n, noise, trials) for n in REPETITIONS for noise in NOISES[1:]]
    shares = dict(zip([case[:2] for case in cases], pool.map(covered, cases), strict=True))
    rows = ["| repetitions | method | 5 % noise | 10 % noise |", "|---|---|---|---|"]
    for n in REPETITIONS:
        method = "studentized bootstrap" if n >= BOOTSTRAP_FROM else "Student's t"
        rows.append(f"| {n} | {method} | {shares[n, 0.05]:.1%} | {shares[n, 0.10]:.1%} |")
    return "\n".join([*rows, "", f"{trials} trials for each figure."])


def main() -> None:
    """Make the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--trials", type=int, default=4_000)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        tables = {
            "search": search_table(options.seeds, pool),
            "peers": peers_table(options.seeds, pool),
            "coverage": coverage_table(options.trials, pool),
        }
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

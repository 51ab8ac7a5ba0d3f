"""How far a search can be trusted: the tables of docs/evidence/search.md.

    .venv/bin/python -m benchmarks.capacity            # about a quarter of an hour on two cores
    .venv/bin/python -m benchmarks.capacity --seeds 20 --print

Simulated databases of known capacity (`tests/unit/capacity/simulators.py`), every strategy, three
noises and what clouds do besides, a hundred seeds or more each, none of which served for tuning.
Nothing is timed. The tables replace what stands between the marks in docs/evidence/search.md, so
that no figure there was typed.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean, median

from benchmarks.pages import publish
from plimsoll.model.judging.capacity import Rules
from tests.unit.capacity.simulators import World, draw_target
from tests.unit.capacity.statistics.test_intervals import coverage
from tests.unit.capacity.test_bad_windows import SEARCHES, slow_at
from tests.unit.capacity.trials import Score, run, score, targets

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "search.md"
STRATEGIES = ("steps", "ramp", "rate")
NOISES = (0.0, 0.05, 0.10)
WORLDS = {
    "2 % noise": World(noise=0.02),
    "2 % noise, bad windows": World(noise=0.02, bad_share=0.05),
    "5 % noise, bad windows": World(noise=0.05, bad_share=0.05),
    "10 % noise, bad windows": World(noise=0.10, bad_share=0.05),
    "5 % noise, heavy tails": World(noise=0.05, heavy_tails=True),
    "10 % noise, heavy tails": World(noise=0.10, heavy_tails=True),
}
SAMPLED = {
    "10 % noise": World(noise=0.10),
    "heavy tails": World(noise=0.10, heavy_tails=True),
    "bad windows": World(noise=0.05, bad_share=0.05),
}
CURVES = range(500, 520)
REPETITIONS = (3, 4, 5, 8, 10, 12)
FIRST_SEED = 1_000_000  # far from those of tests and of tuning
PEERS = Rules(confirmation=None)
QUIET = World()

Case = tuple[str, str, World, int, bool]  # strategy, target, world, seeds, as peers do


def scored(case: Case) -> Score:
    """Score one strategy on one target."""
    strategy, name, world, seeds, peers = case
    known = [*targets(), *map(draw_target, CURVES)]
    target = next(target for target in known if target.name == name)
    fresh = range(FIRST_SEED, FIRST_SEED + seeds)
    return score(strategy, target, world, fresh, PEERS if peers else Rules())


_KNOWN: dict[Case, Score] = {}  # several tables show sides of the same scores


def scores_of(cases: list[Case], pool: ProcessPoolExecutor) -> list[Score]:
    """Score each case, once."""
    new = [case for case in dict.fromkeys(cases) if case not in _KNOWN]
    _KNOWN.update(zip(new, pool.map(scored, new), strict=True))
    return [_KNOWN[case] for case in cases]


def covered(case: tuple[int, World, int]) -> float:
    """Share of intervals that hold the truth: repetitions, world, trials."""
    n, world, trials = case
    return coverage(n, world, range(FIRST_SEED, FIRST_SEED + trials))


def databases() -> list[str]:
    """Name the targets whose clients are strong enough."""
    return [target.name for target in targets() if target.name != "client-bound"]


def search_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """Every strategy on every target at every noise."""
    cases = [
        (strategy, target.name, World(noise=noise), seeds, False)
        for noise in NOISES
        for strategy in STRATEGIES
        for target in targets()
    ]
    rows = [
        "| noise | strategy | target | over-claims | conservative | no figure | probes |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, found in zip(cases, scores_of(cases, pool), strict=True):
        strategy, target, world, _, _ = case
        timid = "-" if found.unanswered == 1 else f"{found.conservative:.1%}"
        rows.append(
            f"| {world.noise:.0%} | {strategy} | {target} | {found.over_claims:.1%} | {timid} "
            f"| {found.unanswered:.1%} | {found.probes_median:.0f} (at most {found.probes_max}) |"
        )
    return "\n".join([*rows, "", f"{seeds} seeds for each row."])


def peers_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """The same searches with each load tried once."""
    noisy = World(noise=0.10)
    cases = [
        (strategy, name, noisy, seeds, True) for strategy in STRATEGIES for name in databases()
    ]
    rows = ["| strategy | target | over-claims | conservative |", "|---|---|---|---|"]
    for case, found in zip(cases, scores_of(cases, pool), strict=True):
        rows.append(
            f"| {case[0]} | {case[1]} | {found.over_claims:.1%} | {found.conservative:.1%} |"
        )
    return "\n".join([*rows, "", f"10 % noise, {seeds} seeds for each row."])


def curves_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """How near figures come to the best that could be found, over load curves drawn from seeds."""
    rows = [
        "| strategy | over-claims | within 3 % | within 5 % | 10 % short | no figure | probes |",
        "|---|---|---|---|---|---|---|",
    ]
    for strategy in STRATEGIES:
        cases = [
            (strategy, draw_target(seed).name, World(noise=0.05), seeds, False) for seed in CURVES
        ]
        scores = scores_of(cases, pool)
        shortfalls = [shortfall for score in scores for shortfall in score.shortfalls]
        searches = sum(score.runs for score in scores)
        near = [sum(abs(x) <= share for x in shortfalls) / searches for share in (0.03, 0.05)]
        rows.append(
            f"| {strategy} | {fmean(s.over_claims for s in scores):.2%}"
            f" | {near[0]:.0%} | {near[1]:.0%}"
            f" | {sum(x > 0.10 for x in shortfalls) / searches:.0%}"
            f" | {fmean(s.unanswered for s in scores):.1%}"
            f" | {median(s.probes_median for s in scores):.1f}"
            f" (at most {max(s.probes_max for s in scores)}) |"
        )
    return "\n".join([*rows, "", f"{len(CURVES)} curves, {seeds} seeds on each, 5 % noise."])


def worlds_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """What befalls windows in a cloud: each row is over all databases."""
    rows = [
        "| world | strategy | over-claims | 30 % low | conservative | no figure | probes |",
        "|---|---|---|---|---|---|---|",
    ]
    names = databases()
    cases = [(s, n, w, seeds, False) for w in WORLDS.values() for s in STRATEGIES for n in names]
    found = scores_of(cases, pool)
    labels = [(world, strategy) for world in WORLDS for strategy in STRATEGIES]
    for place, (world, strategy) in enumerate(labels):
        scores = found[place * len(names) : (place + 1) * len(names)]
        rows.append(
            f"| {world} | {strategy} | {fmean(s.over_claims for s in scores):.1%}"
            f" | {fmean(s.far_low for s in scores):.1%}"
            f" | {median(x for s in scores for x in s.shortfalls):.1%}"
            f" | {fmean(s.unanswered for s in scores):.1%}"
            f" | {fmean(s.probes_median for s in scores):.0f}"
            f" (at most {max(s.probes_max for s in scores)}) |"
        )
    return "\n".join([*rows, "", f"{seeds} seeds on each of {', '.join(names)}."])


def edges_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """How often a KNEE's range holds the true edge, and how often what was seen does."""
    rows = [
        "| world | strategy | knees | edge within what was seen | within the range | its width |",
        "|---|---|---|---|---|---|",
    ]
    names = databases()
    worlds = {f"{noise * 100:.0f} % noise": World(noise=noise) for noise in NOISES[1:]} | WORLDS
    cases = [(s, n, w, seeds, False) for w in worlds.values() for s in STRATEGIES for n in names]
    found = scores_of(cases, pool)
    labels = [(world, strategy) for world in worlds for strategy in STRATEGIES]
    for place, (world, strategy) in enumerate(labels):
        scores = found[place * len(names) : (place + 1) * len(names)]
        knees = sum(s.knees for s in scores)
        shares = [sum(s.in_bracket for s in scores), sum(s.in_edge for s in scores)]
        wide = median(width for s in scores for width in s.edge_widths)
        rows.append(
            f"| {world} | {strategy} | {knees:,} | {shares[0] / knees:.0%}"
            f" | {shares[1] / knees:.1%} | {wide:.2f} |"
        )
    return "\n".join(
        [*rows, "", f"{seeds} seeds on each of {', '.join(names)}. Width: upper end / lower end."]
    )


def slow_steps_table() -> str:
    """One step whose p99 is four times too high, without noise, at each place of the search."""
    rows = [
        "| search | without it | lowest answer | which step | probes |",
        "|---|---|---|---|---|",
    ]
    target = next(target for target in targets() if target.name == "queue")
    for name, search in SEARCHES.items():
        clean = run(search, target, QUIET, 0)
        trials = [
            run(search, target, QUIET, 0, fault=slow_at(index)) for index in range(len(clean.steps))
        ]
        figures = [t.capacity.max_sustainable_throughput_ops_per_second or 0.0 for t in trials]
        worst = figures.index(min(figures))
        without = clean.capacity.max_sustainable_throughput_ops_per_second or 0.0
        rows.append(
            f"| {name} | {without:,.0f} | {min(figures):,.0f} | {worst + 1} of {len(trials)}"
            f" | {len(clean.steps)}; at most {max(len(t.steps) for t in trials)} |"
        )
    return "\n".join(rows)


def coverage_table(trials: int, pool: ProcessPoolExecutor) -> str:
    """What the 95 % interval covers, by number of repetitions."""
    cases = [(n, world, trials) for n in REPETITIONS for world in SAMPLED.values()]
    shares = list(pool.map(covered, cases))
    rows = [f"| repetitions | {' | '.join(SAMPLED)} |", "|---" * (len(SAMPLED) + 1) + "|"]
    for place, n in enumerate(REPETITIONS):
        row = shares[place * len(SAMPLED) : (place + 1) * len(SAMPLED)]
        rows.append(f"| {n} | {' | '.join(f'{share:.1%}' for share in row)} |")
    return "\n".join([*rows, "", f"{trials} trials for each figure."])


def main() -> None:
    """Make the tables, and write or print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--trials", type=int, default=4_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        tables = {
            "slow steps": slow_steps_table(),
            "worlds": worlds_table(options.seeds, pool),
            "edges": edges_table(options.seeds, pool),
            "search": search_table(options.seeds, pool),
            "curves": curves_table(options.seeds, pool),
            "peers": peers_table(options.seeds, pool),
            "coverage": coverage_table(options.trials, pool),
        }
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

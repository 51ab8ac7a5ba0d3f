"""What the closing steps of a search find out: two tables of docs/evidence/closing-steps.md.

    .venv/bin/python -m benchmarks.capacity_closing            # some minutes on two cores
    .venv/bin/python -m benchmarks.capacity_closing --seeds 20 --print

Searches against the simulated databases of `benchmarks.capacity`, which here stay as they are, warm
up or drift. None of the seeds served for tuning. Nothing is timed.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import fmean, median

from benchmarks.capacity import FIRST_SEED, STRATEGIES, databases
from benchmarks.pages import publish
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.request.search_request import RampSearch, RateSearch, Search
from tests.unit.capacity.simulators import World, network_bound, queue
from tests.unit.capacity.trials import OVER_CLAIM, run, search_for, shifted, targets, truth

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "closing-steps.md"
UNWATCHED = Rules(audits_off=frozenset({"drift"}))
STEADY = {
    "2 % noise": World(noise=0.02),
    "5 % noise": World(noise=0.05),
    "10 % noise": World(noise=0.10),
    "5 % noise, bad windows": World(noise=0.05, bad_share=0.05),
    "5 % noise, heavy tails": World(noise=0.05, heavy_tails=True),
}
CHANGING = {
    "warming (40 % cold), no noise": World(cold=0.4),
    "warming (40 % cold), 5 % noise": World(noise=0.05, cold=0.4),
    "warming (40 % cold), 10 % noise": World(noise=0.10, cold=0.4),
    "1 % slower each step, 2 % noise": World(noise=0.02, drift=-0.01),
    "1 % slower each step, 5 % noise": World(noise=0.05, drift=-0.01),
    "1 % faster each step, 5 % noise": World(noise=0.05, drift=0.01),
}

CLIENTS_SEARCHES: dict[str, Search] = {
    "ramp": RampSearch(
        connections_first=2, connections_max=128, connections_per_client=128, clients_max=100
    ),
    "rate": RateSearch(
        rate_first_ops_per_second=400, rate_max_ops_per_second=32_000, clients_max=100
    ),
    "rate, 45 steps": RateSearch(
        rate_first_ops_per_second=400,
        rate_max_ops_per_second=32_000,
        clients_max=100,
        probes_max=45,
    ),
}

Case = tuple[str, str, World, int]  # strategy, target, world, seed


@dataclass(frozen=True)
class Found:
    """What became of one search that had an answer before its closing steps."""

    flagged: bool
    no_figure: bool  # the answer was taken back
    over_claimed: bool  # the answer, had nobody questioned it
    over_claims: bool  # the answer as it is given
    closing: int  # steps


def run_search(case: Case) -> Found | None:
    """Carry a search through; None where it had no answer to question."""
    strategy, name, world, seed = case
    target = {target.name: target for target in targets()}[name]
    search = shifted(search_for(strategy, target), seed)
    trial = run(search, target, world, seed)
    before = judge(trial.steps, UNWATCHED, find_axis(search))
    if _claim(before) is None:
        return None
    most = truth(search, target, any_load=True) * world.speed_at(len(trial.steps) - 1)
    most *= 1 + OVER_CLAIM
    closing = trial.capacity.closing
    claim = _claim(trial.capacity)
    return Found(
        flagged=closing is not None and closing.drift is not None and closing.drift.found,
        no_figure=claim is None,
        over_claimed=(_claim(before) or 0.0) > most,
        over_claims=(claim or 0.0) > most,
        closing=len(trial.closing),
    )


def _claim(capacity: Capacity) -> float | None:
    """What a capacity says is sustained, in ops/s."""
    figure = capacity.max_sustainable_throughput_ops_per_second
    return None if capacity.bound == "<" else figure


def drift_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """How often drift is found where there is one, and where there is none."""
    rows = [
        "| world | strategy | flagged | no figure | over-claims | of them flagged | left | steps |",
        "|---|---|---|---|---|---|---|---|",
    ]
    fresh = count(FIRST_SEED)  # no two searches share one: their first steps would be the same
    for world_name, world in (STEADY | CHANGING).items():
        for strategy in STRATEGIES:
            names = [name for name in databases() for _ in range(seeds)]
            cases = [(strategy, name, world, next(fresh)) for name in names]
            found = [each for each in pool.map(run_search, cases, chunksize=4) if each is not None]
            over = [each for each in found if each.over_claimed]
            rows.append(
                f"| {world_name} | {strategy} | {fmean(f.flagged for f in found):.1%}"
                f" | {fmean(f.no_figure for f in found):.1%}"
                f" | {len(over) / len(found):.1%}"
                f" | {f'{sum(f.flagged for f in over)} of {len(over)}' if over else '-'}"
                f" | {fmean(f.over_claims for f in found):.1%}"
                f" | {median(f.closing for f in found):.0f} |"
            )
    share = f"{seeds} seeds on each of {', '.join(databases())}; of the searches that had an answer"
    return "\n".join([*rows, "", f"{share}."])


def claimed_share(case: tuple[str, bool, float, int]) -> float | None:
    """Return what a search claims, as a share of what the database sustains; None without a figure.

    Strategy, whether a network of their own limits the clients, noise, seed. 0 if the search
    blames its clients.
    """
    strategy, limited, noise, seed = case
    search = CLIENTS_SEARCHES[strategy]
    capacity = run(
        search, network_bound() if limited else queue(), World(noise=noise), seed
    ).capacity
    if capacity.verdict == "CLIENT_BOUND":
        return 0.0
    claim = _claim(capacity)
    return None if claim is None else claim / truth(search, queue(), any_load=True)


def clients_table(seeds: int, pool: ProcessPoolExecutor) -> str:
    """What becomes of searches where the clients' network is the limit, and where it is not."""
    rows = [
        "| network | noise | strategy | blamed | no figure | figures | median | < 80 % | over |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    fresh = count(FIRST_SEED)
    for limited in (True, False):
        for noise in (0.0, 0.02, 0.05, 0.10):
            for strategy in CLIENTS_SEARCHES:
                cases = [(strategy, limited, noise, next(fresh)) for _ in range(seeds)]
                found = list(pool.map(claimed_share, cases))
                told = [share for share in found if share]
                rows.append(
                    f"| {'is the limit' if limited else 'is not'} | {noise:.0%} | {strategy}"
                    f" | {found.count(0.0) / seeds:.0%} | {found.count(None) / seeds:.0%}"
                    f" | {len(told) / seeds:.0%} | {f'{median(told):.0%}' if told else '-'}"
                    f" | {sum(share < 0.8 for share in told) / seeds:.0%}"
                    f" | {sum(share > 1 + OVER_CLAIM for share in told) / seeds:.0%} |"
                )
    return "\n".join([*rows, "", f"{seeds} seeds for each. Figures: shares of 7,777 ops/s."])


def main() -> None:
    """Make the table, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        tables = {
            "clients": clients_table(options.seeds, pool),
            "drift": drift_table(options.seeds, pool),
        }
    publish(tables, PAGE, only_print=options.only_print)


if __name__ == "__main__":
    main()

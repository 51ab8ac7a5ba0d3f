"""How well intervals over fresh targets hold: the tables of docs/evidence/repeatability.md.

    .venv/bin/python -m benchmarks.fresh_targets            # a minute of one core
    .venv/bin/python -m benchmarks.fresh_targets --print

Random effects: a target is faster or slower than the mean of its kind by a log-normal factor, and
so is each repetition on it. Seeds are far from those of tests; nothing was tuned on them, and
nothing is timed.
"""

import argparse
from itertools import product
from pathlib import Path

from benchmarks.pages import publish
from tests.unit.capacity.fresh_runs import (
    cover_mean,
    cover_next,
    cover_next_alone,
    cover_next_search,
    draw_figure,
    search_fresh,
)
from tests.unit.capacity.simulators import Target, cliff, queue

PAGE = Path(__file__).parent.parent / "docs" / "evidence" / "repeatability.md"
FIRST_SEED = 7_000_000
RUNS = (2, 3, 5, 10)
SCATTER = ((0.0, 0.05), (0.02, 0.05), (0.05, 0.05), (0.10, 0.05))  # between targets, within a run
STRATEGIES = ("ramp", "rate", "steps")
SEARCHED_SCATTER = 0.03, 0.05  # the same where whole searches are carried through
DRAWS = 4_000


def write_law_table(trials: int) -> str:
    """Write how often each interval holds what it states, for figures drawn by the law."""
    seeds = range(FIRST_SEED, FIRST_SEED + trials)
    rows = [
        "| between targets | within a run | one run's own interval |"
        + "".join(f" {n} runs |" for n in RUNS)
        + " mean, 3 runs |",
        "|---" * (len(RUNS) + 4) + "|",
    ]
    for between, within in SCATTER:
        shares = [
            cover_next_alone(between, within, seeds),
            *(cover_next(n, between, within, seeds, draw_figure) for n in RUNS),
            cover_mean(3, between, within, seeds),
        ]
        cells = "".join(f" {share:.1%} |" for share in shares)
        rows.append(f"| {between:.0%} | {within:.0%} |{cells}")
    return "\n".join([*rows, "", f"{trials:,} trials for each figure."])


def write_search_table(searches: int) -> str:
    """Write how often the prediction interval holds the next figure, for whole searches."""
    seeds = range(FIRST_SEED, FIRST_SEED + searches)
    rows = [
        "| search | database | exact figures |" + "".join(f" {n} runs |" for n in RUNS),
        "|---" * (len(RUNS) + 3) + "|",
    ]
    cases = product(STRATEGIES, (queue(), cliff()))
    rows += [_row(strategy, target, seeds) for strategy, target in cases]
    told = f"{searches} searches of each row, {DRAWS:,} draws from them for each figure."
    return "\n".join([*rows, "", told])


def _row(strategy: str, target: Target, seeds: range) -> str:
    found = search_fresh(strategy, target, *SEARCHED_SCATTER, seeds)
    exact = sum(capacity.bound == "=" for capacity in found)
    shares = [cover_next_search(n, found, DRAWS, FIRST_SEED + n)[0] for n in RUNS]
    cells = "".join(f" {share:.1%} |" for share in shares)
    return f"| `{strategy}` | {target.name} | {exact / len(found):.1%} |{cells}"


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--print", action="store_true", help="leave the page as it is")
    asked = parser.parse_args()
    tables = {
        "fresh-law": write_law_table(asked.trials),
        "fresh-searches": write_search_table(asked.searches),
    }
    publish(tables, PAGE, only_print=asked.print)


if __name__ == "__main__":
    main()

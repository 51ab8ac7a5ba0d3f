"""The options of `plimsoll find`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import click

from plimsoll.cli.expecting import Expecting
from plimsoll.cli.exporting import Exporting
from plimsoll.cli.number_range import NumberRange
from plimsoll.finding.asked import USUAL, SearchOptions
from plimsoll.finding.quantities import RULES
from plimsoll.model.steps import Statistic

Command = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options, as click reads them."""

    dsn: str | None
    workload_name: str
    tables: int | None
    settings: tuple[str, ...]
    limits: tuple[str, ...]
    statistic: Statistic
    records: int | None
    prepare: bool
    drop: bool
    allow_writes: bool
    strategy: Literal["ramp", "rate"]
    max_connections: int
    max_rate: float | None
    stop_if: tuple[str, ...]
    warmup: float | None
    duration: float | None
    warm: float
    time_limit: int
    quick: bool
    out: Path | None
    expecting: Expecting
    exporting: Exporting
    as_json: bool

    def search_options(self) -> SearchOptions:
        """Say how the search is to be made."""
        return SearchOptions(
            strategy=self.strategy,
            max_connections=self.max_connections,
            max_rate=self.max_rate,
            warmup_s=self.warmup,
            duration_s=self.duration,
            warm_s=self.warm,
            time_limit_s=self.time_limit,
            quick=self.quick,
        )


def find_options(command: Command) -> Command:
    """Add the options of `plimsoll find`; `--workload` and its like are `workload_options`."""
    for option in reversed(
        (
            click.option(
                "--limit",
                "limits",
                multiple=True,
                metavar="[OPERATION=]LATENCY",
                help="The most that an operation may take: read=5ms. Without it: 3 times its"
                " latency under the lightest load.",
            ),
            click.option(
                "--statistic",
                type=click.Choice(get_args(Statistic)),
                default="p99",
                show_default=True,
                help="Of the latency, which the limit is for.",
            ),
            click.option(
                "--records",
                type=click.IntRange(1),
                metavar="N",
                help="Records of the dataset; by default those that are there, or with --prepare"
                " the workload's own number.",
            ),
            click.option(
                "--prepare",
                is_flag=True,
                help="Make the workload's tables and rows where they are not there. Tables that"
                " Plimsoll did not make are never touched.",
            ),
            click.option("--drop/--keep", default=False, help="Drop them at the end, or not."),
            click.option(
                "--allow-writes",
                is_flag=True,
                help="Let the workload change rows that Plimsoll did not make.",
            ),
            click.option(
                "--strategy",
                type=click.Choice(["ramp", "rate"]),
                default="ramp",
                show_default=True,
                help="ramp: more and more connections, each waits for its answers (closed loop)."
                " rate: operations fall due faster and faster, answered or not (open loop).",
            ),
            click.option(
                "--max-connections",
                type=click.IntRange(1, 20_000),
                default=256,
                show_default=True,
                help="Never more at once.",
            ),
            click.option(
                "--max-rate",
                type=NumberRange(0, 10_000_000, min_open=True),
                metavar="OPS/S",
                help="rate: the highest one that is tried. ramp: a second with more ends the load.",
            ),
            click.option(
                "--stop-if",
                multiple=True,
                metavar="RULE",
                help=f"What ends the load at once, looked at each second: {RULES}.",
            ),
            click.option(
                "--warmup",
                type=NumberRange(0, 600),
                metavar="SECONDS",
                help=f"Before each window.  [default: {USUAL.warmup_s:g}]",
            ),
            click.option(
                "--duration",
                type=NumberRange(0, 600, min_open=True),
                metavar="SECONDS",
                help=f"Of each window.  [default: {USUAL.duration_s:g}]",
            ),
            click.option(
                "--warm",
                type=NumberRange(0, 600),
                metavar="SECONDS",
                default=5.0,
                show_default=True,
                help="Load before the first step, which fills the caches.",
            ),
            click.option(
                "--time-limit",
                type=click.IntRange(10, 86_400),
                default=900,
                show_default=True,
                metavar="SECONDS",
                help="No further step after that.",
            ),
            click.option(
                "--quick",
                is_flag=True,
                help="Under a minute: shorter windows, wider steps, fewer repetitions. The answer"
                " is less sure, and says so.",
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path, file_okay=False),
                help="Where the results go; a new or empty folder. Default:"
                " plimsoll-results/find-<time>/.",
            ),
            click.option("--json", "as_json", is_flag=True, help="Print result.json."),
        )
    ):
        command = option(command)
    return command

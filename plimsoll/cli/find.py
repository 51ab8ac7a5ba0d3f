"""`plimsoll find`: the load line of an existing database."""

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.find_shown import Search, create_rows, search_into
from plimsoll.cli.options import NumberRange, parse_settings, workload_options
from plimsoll.cli.output import require_writable
from plimsoll.cli.page import Page, make_token, page_options, shown, wait_for_interrupt
from plimsoll.cli.run_experiment import RESULTS
from plimsoll.cli.show import print_results, read_results
from plimsoll.errors import UsageError
from plimsoll.load_line.dataset import (
    Found,
    Made,
    describe_missing_rows,
    drop,
    is_ready_to_search,
    look,
    missing_rows_error,
    require_harmless,
    require_no_partial_dataset,
    require_place,
)
from plimsoll.load_line.options import (
    PASSWORD,
    RULES,
    USUAL,
    SearchOptions,
    StopRule,
    parse_limits_us,
    write_search_request,
)
from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.dsn import FORM, engine_of, parse_dsn
from plimsoll.model.request.request import Request
from plimsoll.workload import Workload, load_workload
from plimsoll.workload.library import list_builtin_names

if TYPE_CHECKING:
    from plimsoll.cli.find_shown import FindPage


# Options.


Command = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options as click reads them."""

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
        """Return the options of the search."""
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
    """Add the options of `plimsoll find`; `workload_options` adds `--workload` and similar ones."""
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


@click.command("find")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@workload_options
@find_options
@expect_options
@export_options
@page_options
def command(*, page: Page, **options: Any) -> int:
    """Find the load line of the database DSN: the most that it sustains within limits of latency.

    DSN is mysql://USER@HOST:PORT/DATABASE or similar. Keep its password in the variable
    PLIMSOLL_PASSWORD, or all of it in PLIMSOLL_DSN: other users can see a command's arguments.

    Ctrl-C ends the load within a second and shows the answer so far. Exit code 1: nothing could be
    measured, --stop-if ended it, or a rule of --expect does not hold. 3: there is no answer (the
    verdict has no figure), or a rule cannot be decided.
    """
    asked = Asked(**options)
    folder = asked.out or RESULTS / f"find-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    require_writable(folder)
    if asked.dsn is None:
        raise UsageError(f"DSN: is missing; the form is {FORM}; or set PLIMSOLL_DSN")
    target = parse_dsn(asked.dsn, option="DSN", password=os.environ.get(PASSWORD, ""))
    workload = load_workload(asked.workload_name)
    given = parse_settings(workload, asked.settings, asked.tables)
    found = look(target, workload, asked.records, given)
    operations = [operation.name for operation in found.compiled.engine.operations]
    rules = Rules(limits_us=parse_limits_us(asked.limits, operations), statistic=asked.statistic)
    asked.expecting.require_operations(operations)
    asked.expecting.require_baselines()
    stop_rules = [StopRule.parse(text, operations) for text in asked.stop_if]
    if asked.strategy == "ramp" and asked.max_rate is not None:
        stop_rules.append(StopRule.of_rate(asked.max_rate))
    _build_request(
        asked, target, workload, found, rules
    )  # refuse impossible requests before rows are created
    to_drop = asked.drop and found.note is None  # otherwise a refused request changes nothing
    with ExitStack() as here:
        try:
            found, made = _prepare_dataset(asked, target, workload, found)
            request = _build_request(asked, target, workload, found, rules)
            to_drop = asked.drop
            search = Search(request, target, found, stop_rules, made.rows, made.notes)
            followed = _open_page(here, request, page) if page.shown else None
            interrupted = search_into(search, folder, followed)
            results = asked.expecting.judge_all(read_results(folder), keep=True)
            print_results(results, as_json=asked.as_json)
            asked.exporting.tell_runs(result for _, result in results.values())
            code = asked.expecting.tell_runs(results)
        finally:
            if to_drop:
                drop(target, found)
        if page.shown and not interrupted:
            wait_for_interrupt()
    return 130 if interrupted else code


def _open_page(here: ExitStack, request: Request, page: Page) -> "FindPage":
    from plimsoll.local.twin import check_machine  # noqa: PLC0415 - an extra

    check_machine()
    from plimsoll.cli.find_shown import FindPage, find_page_config  # noqa: PLC0415 - an extra
    from plimsoll.local.front import Front  # noqa: PLC0415 - an extra

    followed = FindPage(request)
    front = here.enter_context(Front(followed, token=make_token(), config=find_page_config()))
    here.enter_context(shown(front, page))
    return followed


def _prepare_dataset(
    asked: Asked, target: EngineTarget, workload: Workload, found: Found
) -> tuple[Found, Made]:
    """Create the dataset if requested; return what is present then, and what was created.

    Raises:
        UsageError: There is no dataset, or it is the user's own and the workload would change it.
    """
    if is_ready_to_search(found, records=asked.records, prepare=asked.prepare):
        require_place(target, found)
        require_harmless(found, allow_writes=asked.allow_writes)
        return found, Made()
    if not asked.prepare:
        require_no_partial_dataset(found)
        place = f"the {protocol_facts(target.protocol).database_word} {target.database}"
        question = f"Make {describe_missing_rows(found)}, in {place}?"
        if not (sys.stdin.isatty() and click.confirm(question, err=True)):
            raise missing_rows_error(found, target)
    made = create_rows(target, found)
    return look(target, workload, found.compiled.records, found.given), made


def _build_request(
    asked: Asked, target: EngineTarget, workload: Workload, found: Found, rules: Rules
) -> Request:
    assert asked.dsn is not None  # noqa: S101 - it was read
    asked_for = write_search_request(
        asked.search_options(),
        engine_of(asked.dsn),
        target,
        found,
        workload,
        built_in=asked.workload_name in list_builtin_names(),
        rules=rules,
    )
    return asked_for.model_copy(update={"expect": asked.expecting.rules})

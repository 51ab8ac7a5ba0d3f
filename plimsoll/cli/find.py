"""`plimsoll find`: the load line of a database that is there already."""

import os
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.expecting import expect_options
from plimsoll.cli.exporting import export_options
from plimsoll.cli.find_options import Asked, find_options
from plimsoll.cli.finding import Search, find_into, made_rows
from plimsoll.cli.local_runs import RESULTS
from plimsoll.cli.options import parse_settings, workload_options
from plimsoll.cli.output import require_writable
from plimsoll.cli.page import Page, new_token, page_options, shown, stay
from plimsoll.cli.show import print_results, read_results
from plimsoll.errors import UsageError
from plimsoll.finding.asked import PASSWORD, asked_request
from plimsoll.finding.dataset import (
    Found,
    Made,
    drop,
    lacking_rows,
    look,
    needs_no_rows,
    require_harmless,
    require_nothing_begun,
    require_place,
    rows_to_make,
)
from plimsoll.finding.quantities import StopRule, limits_us
from plimsoll.model.capacity import Rules
from plimsoll.model.databases import protocol_facts
from plimsoll.model.dsn import FORM, engine_of, parse_dsn
from plimsoll.model.engine import EngineTarget
from plimsoll.model.request import Request
from plimsoll.workload import Workload, load_workload
from plimsoll.workload.library import builtin_names

if TYPE_CHECKING:
    from plimsoll.cli.find_page import FindPage


@click.command("find")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@workload_options
@find_options
@expect_options
@export_options
@page_options
def command(*, page: Page, **options: Any) -> int:
    """Find the load line of the database DSN: the most that it sustains within limits of latency.

    DSN is mysql://USER@HOST:PORT/DATABASE or the like. Keep its password in the variable
    PLIMSOLL_PASSWORD, or the whole of it in PLIMSOLL_DSN: other users see a command's arguments.

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
    rules = Rules(limits_us=limits_us(asked.limits, operations), statistic=asked.statistic)
    asked.expecting.require_operations(operations)
    asked.expecting.require_baselines()
    stop_rules = [StopRule.parse(text, operations) for text in asked.stop_if]
    if asked.strategy == "ramp" and asked.max_rate is not None:
        stop_rules.append(StopRule.of_rate(asked.max_rate))
    _request(
        asked, target, workload, found, rules
    )  # what cannot be is refused before rows are made
    to_drop = asked.drop and found.note is None  # else what is refused stays as it was
    with ExitStack() as here:
        try:
            found, made = _with_dataset(asked, target, workload, found)
            request = _request(asked, target, workload, found, rules)
            to_drop = asked.drop
            search = Search(request, target, found, stop_rules, made.rows, made.notes)
            followed = _shown(here, request, page) if page.shown else None
            interrupted = find_into(search, folder, followed)
            results = asked.expecting.judge_all(read_results(folder), keep=True)
            print_results(results, as_json=asked.as_json)
            asked.exporting.tell_runs(result for _, result in results.values())
            code = asked.expecting.tell_runs(results)
        finally:
            if to_drop:
                drop(target, found)
        if page.shown and not interrupted:
            stay()
    return 130 if interrupted else code


def _shown(here: ExitStack, request: Request, page: Page) -> "FindPage":
    from plimsoll.local.twin import check_machine  # noqa: PLC0415 - an extra

    check_machine()
    from plimsoll.cli.find_page import FindPage, config  # noqa: PLC0415 - an extra
    from plimsoll.local.front import Front  # noqa: PLC0415 - an extra

    followed = FindPage(request)
    front = here.enter_context(Front(followed, token=new_token(), config=config()))
    here.enter_context(shown(front, page))
    return followed


def _with_dataset(
    asked: Asked, target: EngineTarget, workload: Workload, found: Found
) -> tuple[Found, Made]:
    """Make the dataset where that is asked for; gives what is there then, and what was made.

    Raises:
        UsageError: There is none, or it is the user's own and the workload would change it.
    """
    if needs_no_rows(found, records=asked.records, prepare=asked.prepare):
        require_place(target, found)
        require_harmless(found, allow_writes=asked.allow_writes)
        return found, Made()
    if not asked.prepare:
        require_nothing_begun(found)
        place = f"the {protocol_facts(target.protocol).database_word} {target.database}"
        question = f"Make {rows_to_make(found)}, in {place}?"
        if not (sys.stdin.isatty() and click.confirm(question, err=True)):
            raise lacking_rows(found, target)
    made = made_rows(target, found)
    return look(target, workload, found.compiled.records, found.given), made


def _request(
    asked: Asked, target: EngineTarget, workload: Workload, found: Found, rules: Rules
) -> Request:
    assert asked.dsn is not None  # noqa: S101 - it was read
    asked_for = asked_request(
        asked.search_options(),
        engine_of(asked.dsn),
        target,
        found,
        workload,
        built_in=asked.workload_name in builtin_names(),
        rules=rules,
    )
    return asked_for.model_copy(update={"expect": asked.expecting.rules})

"""`plimsoll find`: the load line of an existing database."""

import os
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.options import parse_settings, table_options, workload_options
from plimsoll.cli.output import out_option, require_writable
from plimsoll.cli.page import Page, page_options, wait_for_interrupt
from plimsoll.cli.retry import tell_retry
from plimsoll.cli.show import print_results, read_results
from plimsoll.errors import UsageError
from plimsoll.load_line.options import PASSWORD, FindOptions


@click.command("find")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@workload_options
@table_options(FindOptions)
@out_option("The folder of the results", default="plimsoll-results/find-<time>/")
@click.option("--json", "as_json", is_flag=True, help="Print result.json.")
@expect_options
@export_options
@page_options
def command(
    *,
    dsn: str | None,
    workload_name: str,
    settings: tuple[str, ...],
    options: FindOptions,
    out: Path | None,
    as_json: bool,
    expecting: Expecting,
    exporting: Exporting,
    page: Page,
) -> int:
    """Find the load line of the database DSN: the highest throughput within latency limits.

    DSN is mysql://USER@HOST:PORT/DATABASE or similar. Other users of this machine can see a
    command's arguments: keep the password in the variable PLIMSOLL_PASSWORD, or the whole DSN in
    PLIMSOLL_DSN.

    Ctrl-C ends the load within a second and prints the answer so far. Exit code 1: nothing could be
    measured, --stop-if ended the search, or a rule of --expect does not hold. 3: there is no answer
    (the verdict has no figure), or a rule cannot be decided.
    """
    from plimsoll.cli.find_shown import Terminal, open_page
    from plimsoll.cli.run_experiment import RESULTS
    from plimsoll.load_line.clients import INTERRUPTED
    from plimsoll.load_line.find import Asked, find
    from plimsoll.model.request.dsn import FORM, parse_dsn
    from plimsoll.workload import load_workload

    folder = out or RESULTS / f"find-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    require_writable(folder)
    if dsn is None:
        raise UsageError(f"DSN: is missing; the form is {FORM}; or set PLIMSOLL_DSN")
    target = parse_dsn(dsn, option="DSN", password=os.environ.get(PASSWORD, ""))
    workload = load_workload(workload_name)
    asked = Asked(
        dsn=dsn,
        target=target,
        workload_name=workload_name,
        workload=workload,
        parameters=parse_settings(workload, settings),
        options=options,
        expect=expecting.rules,
    )
    expecting.require_operations(workload.operation_names)
    expecting.require_baselines()
    with ExitStack() as here:
        terminal = Terminal(folder, partial(open_page, here, page) if page.shown else None)
        outcome = find(asked, terminal)
        results = expecting.judge_all(read_results(folder), keep=True)
        print_results(results, as_json=as_json)
        exporting.tell_runs(result for _, result in results.values())
        interrupted = outcome.cut_short == INTERRUPTED
        if not interrupted and outcome.not_dropped is None:
            tell_retry(results, as_json=as_json)
        code = expecting.tell_runs(results)
        if outcome.not_dropped is not None:
            raise outcome.not_dropped
        if page.shown and not interrupted:
            wait_for_interrupt()
    return 130 if interrupted else code

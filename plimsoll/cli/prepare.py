"""`plimsoll prepare`: creates a workload's tables and rows."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.options import dsn_option, parse_settings, table_options, workload_options
from plimsoll.load_line.options import PASSWORD, PrepareOptions

if TYPE_CHECKING:
    from plimsoll.databases.prepare import Prepared
    from plimsoll.model.engine.asked import EngineTarget
    from plimsoll.workload import Compiled


@click.command("prepare")
@dsn_option
@workload_options
@table_options(PrepareOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    dsn: str,
    workload_name: str,
    settings: tuple[str, ...],
    options: PrepareOptions,
    as_json: bool,
) -> None:
    """Create a workload's tables and rows, and verify their count.

    A second call completes what an interrupted one has begun, and never duplicates a row.
    """
    from plimsoll.load_line.pooler import adapt_to_pooler
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.workload import load_workload

    workload = load_workload(workload_name)
    given = parse_settings(workload, settings)
    target, _ = adapt_to_pooler(parse_dsn(dsn, password=os.environ.get(PASSWORD, "")))
    compiled = workload.compile(options.records, given, target.protocol)
    started = time.monotonic()
    prepared = prepare_with_progress(target, compiled, options)
    seconds = time.monotonic() - started
    if as_json:
        result = {
            "dataset": compiled.dataset,
            "records": compiled.records,
            "parameters": compiled.dataset_parameters,
            "load_order": options.load_order,
            "rows_sent": prepared.sent_rows,
            "rows_inserted": prepared.inserted_rows,
            "rows_counted": prepared.counted_rows,
            "duration_s": round(seconds, 3),
        }
        click.echo(json.dumps(result, indent=2))
        return
    for table in compiled.tables:
        counted = prepared.counted_rows[table.name]
        extra = (
            f", {counted - table.rows:,} of them inserted by loads" if counted > table.rows else ""
        )
        click.echo(f"{table.name}: {words.format_count(counted, 'row')}{extra}")
    took = words.format_duration(seconds)
    done = f"{words.format_count(prepared.inserted_rows, 'row')} inserted in {took}"
    click.echo(done if prepared.sent_rows else f"complete already, counted in {took}")


def prepare_with_progress(
    target: EngineTarget, compiled: Compiled, options: PrepareOptions
) -> Prepared:
    """Create a dataset with a progress bar on standard error; Ctrl-C ends it.

    Raises:
        PlimsollError: The database refuses, or one of the tables belongs to something else.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from plimsoll.load_line.dataset import insert_rows

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    task = progress.add_task(f"prepare {compiled.dataset}", total=compiled.rows)

    def advance(rows: int) -> None:
        progress.start()  # only after the database has answered, so that a refusal stands alone
        progress.update(task, completed=rows)

    try:
        return insert_rows(target, compiled, options, advance)
    finally:
        if progress.live.is_started:  # otherwise it would leave an empty line
            progress.stop()

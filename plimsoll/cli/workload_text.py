"""What `plimsoll workload derive` says of the workload that it made."""

import json
from collections import defaultdict
from pathlib import Path

import click
from rich.console import Console

from plimsoll import words
from plimsoll.cli.output import print_figures, table_of
from plimsoll.model.statements_seen import StatementsSeen
from plimsoll.workload.derive.derived import Derived

LEFT_OUT_SHOWN = 12


def print_derived(derived: Derived, seen: StatementsSeen, out: Path | None) -> None:
    """Tell on standard error what the workload does, what it leaves out, and what is guessed."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    rates = ["ops/s"] if seen.interval_s else []
    figures = ["share", *rates, "mean in the server", "statements"]
    table = table_of("operation", *figures, right=figures)
    total = sum(one.calls for one in derived.operations)
    for one in derived.operations:
        rate = [words.rate(one.calls / seen.interval_s)] if seen.interval_s else []
        table.add_row(
            one.name,
            words.percent(one.calls / total),
            *rate,
            words.latency(1e6 * one.time_s / one.calls),
            str(sum(times for _, times in one.statements)),
        )
    print_figures(console, table)
    console.print(
        f"\nIt stands for {words.percent(derived.share_of_calls)} of the calls and"
        f" {words.percent(derived.share_of_time)} of the time in the server."
    )
    for note in derived.notes:
        console.print(f"- {note}")
    _print_left_out(derived, console)
    if out is not None:
        click.echo(f"{out}: plimsoll find DSN --workload {out} --prepare", err=True)


def _print_left_out(derived: Derived, console: Console) -> None:
    if not derived.left_out:
        return
    alike: dict[tuple[str, str], tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for one in derived.left_out:
        calls, time_s = alike[one.statement, one.why]
        alike[one.statement, one.why] = calls + one.calls, time_s + one.time_s
    console.print("\nNot in it:")
    for (statement, why), (calls, time_s) in list(alike.items())[:LEFT_OUT_SHOWN]:
        of_calls = words.percent(calls / derived.calls if derived.calls else None)
        of_time = words.percent(time_s / derived.time_s if derived.time_s else None)
        console.print(f"- {of_calls} of the calls, {of_time} of the time: {statement}: {why}")
    if len(alike) > LEFT_OUT_SHOWN:
        console.print(f"- {len(alike) - LEFT_OUT_SHOWN} more: --json has them")


def as_json_text(derived: Derived, seen: StatementsSeen) -> str:
    """Write all of it as JSON."""
    total = sum(one.calls for one in derived.operations)
    whole = {
        "server": seen.server,
        "interval_s": seen.interval_s,
        "workload": derived.document,
        "share_of_calls": derived.share_of_calls,
        "share_of_time": derived.share_of_time,
        "operations": [
            {
                "name": one.name,
                "calls": one.calls,
                "share": one.calls / total,
                "ops_per_second": one.calls / seen.interval_s if seen.interval_s else None,
                "mean_us": 1e6 * one.time_s / one.calls,
                "statements": [{"text": text, "times": times} for text, times in one.statements],
            }
            for one in derived.operations
        ],
        "left_out": [
            {
                "statement": one.statement,
                "why": one.why,
                "calls": one.calls,
                "time_s": one.time_s,
                "share_of_calls": one.calls / derived.calls if derived.calls else None,
                "share_of_time": one.time_s / derived.time_s if derived.time_s else None,
            }
            for one in derived.left_out
        ],
        "notes": list(derived.notes),
    }
    return json.dumps(whole, indent=2)

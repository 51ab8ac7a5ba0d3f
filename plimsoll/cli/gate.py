"""`plimsoll gate`: fails when an operation makes the database do more than before."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.expecting import Expecting, check_folder, files_options
from plimsoll.cli.options import WholeRange, parse_settings, workload_options
from plimsoll.errors import UsageError
from plimsoll.files import write_whole
from plimsoll.load_line.options import PASSWORD
from plimsoll.model.gate import TURNS_MIN, WEAK, State, require_whole

if TYPE_CHECKING:
    from plimsoll.gate.states import StateSetup
    from plimsoll.gate.turns import Extent
    from plimsoll.model.gate import GateResult

BASELINE_BYTES_MAX = 16 * 2**20
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("dsn", envvar="PLIMSOLL_DSN", metavar="[DSN]", required=False)
@workload_options
@click.option("--records", type=WholeRange(1), metavar="N", help="Number of records.")
@click.option("--before", type=_FILE, help="SQL file that makes the first state.")
@click.option("--after", type=_FILE, help="SQL file that makes the second state: a migration.")
@click.option(
    "--before-cmd",
    metavar="PROGRAM",
    help="Program with its arguments that makes the first state, run without a shell; PLIMSOLL_DSN"
    " is the database that it changes.",
)
@click.option("--after-cmd", metavar="PROGRAM", help="The same for the second state.")
@click.option("--after-workload", metavar="FILE.yaml", help="Workload of the second state.")
@click.option(
    "--after-dsn",
    envvar="PLIMSOLL_AFTER_DSN",
    metavar="DSN",
    help="Server of the second state: another version, or other parameters.",
)
@click.option("--baseline", type=_FILE, help="Compare with this stored state; measure one state.")
@click.option(
    "--save",
    type=_FILE,
    callback=check_folder,
    help="Store the second state, as a later --baseline.",
)
@click.option(
    "--pairs",
    type=WholeRange(TURNS_MIN, 100),
    default=8,
    show_default=True,
    help="Number of turns of each state.",
)
@click.option(
    "--operations",
    type=WholeRange(100, 1_000_000),
    default=1000,
    show_default=True,
    help="Number of operations of each block.",
)
@click.option(
    "--connections",
    type=WholeRange(1, 64),
    default=1,
    show_default=True,
    help="Number of connections; with more than one, order and locks vary.",
)
@click.option(
    "--seed", type=WholeRange(0, 2**53), default=1, show_default=True, help="Random seed."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@files_options
def command(
    *,
    dsn: str | None,
    workload_name: str,
    settings: tuple[str, ...],
    records: int | None,
    before: Path | None,
    after: Path | None,
    before_cmd: str | None,
    after_cmd: str | None,
    after_workload: str | None,
    after_dsn: str | None,
    baseline: Path | None,
    save: Path | None,
    pairs: int,
    operations: int,
    connections: int,
    seed: int,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
) -> int:
    """Compare the work of each operation in two states of a database, by counts.

    The server's own counters tell for each operation the bytes of log, pages, rows, statements and
    more. They do not depend on how busy the machine is. Each state is measured on fresh copies:
    databases of its own on the server, which are dropped afterwards. Nobody else may use the server
    meanwhile, and the user has to be allowed to create databases.

    Exit code 1: an operation does more work than before. 3: nothing could be compared.
    """
    from plimsoll.gate.sql_file import read_statements
    from plimsoll.gate.states import StateSetup
    from plimsoll.gate.turns import Extent, measure_states
    from plimsoll.gate.verdict import compare_states, require_comparable, summarize
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.model.request.dsn import FORM, parse_dsn
    from plimsoll.workload import load_workload

    if dsn is None:
        raise UsageError(f"DSN: is missing; the form is {FORM}; or set PLIMSOLL_DSN")
    extent = Extent(pairs=pairs, operations=operations, connections=connections, seed=seed)
    if baseline is not None and (before or before_cmd):
        raise UsageError("--baseline: is the first state; leave out --before and --before-cmd")

    def set_up(
        name: str, dsn: str, workload_name: str, sql: Path | None, program: str | None
    ) -> StateSetup:
        workload = load_workload(workload_name)
        return StateSetup(
            name=name,
            dsn=dsn,
            target=parse_dsn(dsn, password=os.environ.get(PASSWORD, "")),
            workload=workload,
            parameters=parse_settings(workload, settings),
            records=records,
            statements=() if sql is None else read_statements(sql, f"--{name}"),
            program=() if program is None else _split_program(program, f"--{name}-cmd"),
        )

    first = set_up("before", dsn, workload_name, before, before_cmd)
    second = set_up("after", after_dsn or dsn, after_workload or workload_name, after, after_cmd)
    if first.target.protocol != second.target.protocol:
        raise UsageError("--after-dsn: is of another family: their counts cannot be compared")
    stored = None if baseline is None else read_state(baseline, extent, second.describe())
    changes = (before, after, before_cmd, after_cmd, after_workload, after_dsn)
    alone = stored is not None or (save is not None and not any(changes))

    _say_if_same(different=alone or any(changes))

    def show_turn(state: str, pair: int) -> None:
        click.echo(f"pair {pair + 1} of {pairs}: {state}", err=True)

    with interrupt_on_termination():  # the copies are dropped then, too
        measured = measure_states((second,) if alone else (first, second), extent, show_turn)
    if save is not None:
        write_whole(save, measured[-1].model_dump_json(indent=1))
    if alone and stored is None:
        click.echo(f"stored: {save}")
        return 0
    if stored is not None:
        require_comparable(stored, measured[-1].setting.model_dump(mode="json"))
    result = compare_states(stored or measured[0], measured[-1])
    if as_json:
        click.echo(result.model_dump_json(indent=2))
    else:
        print_result(result)
    name = f"gate {second.workload.name}"
    return Expecting((), junit, markdown).tell([summarize(result, name)])


def _say_if_same(*, different: bool) -> None:
    if not different:  # without --after a pipeline would pass for ever
        click.echo("both states are the same: nothing was given that changes the second", err=True)


def _split_program(text: str, option: str) -> tuple[str, ...]:
    try:
        words_of_it = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if not words_of_it:
        raise UsageError(f"{option}: is empty")
    return words_of_it


def read_state(path: Path, extent: Extent, known: Mapping[str, object]) -> State:
    """Read a stored state that was measured to the same extent, and with the same known `Setting`.

    Raises:
        UsageError: The file cannot be read, is none that `--save` wrote, or was measured otherwise.
    """
    from plimsoll.gate.verdict import require_comparable
    from plimsoll.report.folder import read_model

    try:
        state = read_model(path, State, bytes_max=BASELINE_BYTES_MAX)
        require_whole(state)
    except UsageError as error:
        raise UsageError(
            f"--baseline: is no file that `plimsoll gate --save` wrote: {error}"
        ) from None
    measured = {
        "pairs": len(state.turns),
        "operations": state.setting.operations,
        "connections": state.setting.connections,
        "seed": state.setting.seed,
    }
    for option, value in measured.items():
        if value != getattr(extent, option):
            raise UsageError(
                f"--{option}: --baseline was measured with {value}, not {getattr(extent, option)}"
            )
    require_comparable(state, known)
    return state


def print_result(result: GateResult) -> None:
    """Print the verdict, what changed, and a table of all counts."""
    from plimsoll.cli.output import console, make_table, print_figures
    from plimsoll.gate.verdict import COUNT_WORDS

    rate = words.format_percent(result.false_alarms_max)
    click.echo(
        f"{result.verdict}: {words.format_count(result.tested, 'count')} tested together, false"
        " alarms in"
        f" at most {rate} of comparisons"
    )
    for line in (*result.sentences, *(f"note: {note}" for note in result.notes)):
        click.echo(line)
    click.echo()
    figures = ("before", "after", "found from")
    table = make_table("operation", "count, per operation", *figures, "outcome", right=figures)
    for one in result.changes:
        if one.outcome == "not told" or not (one.before or one.after):
            continue
        least = one.detectable_share
        table.add_row(
            one.operation,
            COUNT_WORDS[one.count],
            words.NOTHING if one.before is None else words.format_three_figures(one.before),
            words.NOTHING if one.after is None else words.format_three_figures(one.after),
            words.NOTHING if least is None or least > 1 else words.format_percent(least),
            "weak: not tested" if one.count in WEAK else one.outcome,
        )
    print_figures(console(), table)
    absent = dict.fromkeys(one.count for one in result.changes if one.outcome == "not told")
    if absent:
        click.echo(f"not told by the server: {words.join_names(COUNT_WORDS[c] for c in absent)}")

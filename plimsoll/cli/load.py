"""`plimsoll load`: loads a database with a workload, and prints what was measured."""

import json
import secrets

import click

import plimsoll_engine
from plimsoll import words
from plimsoll.cli.interrupts import ended_by_signals
from plimsoll.cli.load_report import print_report, second_line
from plimsoll.cli.number_range import NumberRange
from plimsoll.cli.options import dsn_option, parse_settings, workload_options
from plimsoll.complaints import Scalar
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.families.dataset_notes import check_loaded
from plimsoll.families.family import family_of
from plimsoll.model.databases import protocol_facts
from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import ClosedLoop, EngineTarget, EngineWorkload, LoadSpec, OpenLoop
from plimsoll.model.engine_report import LoadReport
from plimsoll.workload import Compiled, Workload, load_workload

SEEDS = 2**53  # what every reader of JSON keeps exactly


@click.command("load")
@dsn_option
@workload_options
@click.option(
    "--records",
    type=int,
    metavar="N",
    help="Records of the dataset; by default as `plimsoll prepare` has made it.",
)
@click.option("--connections", type=click.IntRange(1, 20_000), default=8, show_default=True)
@click.option("--threads", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option(
    "--warmup",
    "warmup_s",
    type=NumberRange(0, 86_400),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Load before the measured window.",
)
@click.option(
    "--duration",
    "duration_s",
    type=NumberRange(0.001, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Length of the measured window.",
)
@click.option(
    "--rate",
    type=NumberRange(0, 10_000_000, min_open=True),
    metavar="OPS/S",
    help="Open loop: operations fall due at this rate, and latency counts from the due time."
    " Without it: closed loop.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson"]),
    help="Open loop: how the due times are spread.  [default: constant]",
)
@click.option(
    "--operations",
    type=click.IntRange(1),
    metavar="N",
    help="End earlier, after so many operations in all.",
)
@click.option(
    "--timeout-ms",
    type=click.IntRange(1, 300_000),
    default=60_000,
    show_default=True,
    help="An operation that takes longer is counted as a time-out, at its full length.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    metavar="N",
    help="Repeat a load's very sequence of operations and keys: the seed that it has told."
    "  [default: a new one]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    dsn: str,
    workload_name: str,
    tables: int | None,
    settings: tuple[str, ...],
    records: int | None,
    connections: int,
    threads: int,
    warmup_s: float,
    duration_s: float,
    rate: float | None,
    arrivals: str | None,
    operations: int | None,
    timeout_ms: int,
    seed: int | None,
    as_json: bool,
) -> int:
    """Load a database and measure it.

    Exits with 1 if no operation succeeded, with 130 if it was interrupted; the report comes all
    the same.
    """
    if arrivals is not None and rate is None:
        raise UsageError("--arrivals: goes with --rate (an open loop) only")
    target = parse_dsn(dsn)
    workload = load_workload(workload_name)
    given = parse_settings(workload, settings, tables)
    compiled, sent, server = _resolve(target, workload, records, given)
    spec = LoadSpec(
        target=target,
        workload=sent,
        connections=connections,
        threads=threads,
        loop=_loop(rate, arrivals),
        warmup_s=warmup_s,
        duration_s=duration_s,
        operations_limit=operations,
        timeout_ms=timeout_ms,
        seed=secrets.randbelow(SEEDS) if seed is None else seed,
    )
    report = _run(spec)
    if as_json:
        result = {
            "server": server,
            "workload": compiled.name,
            "dataset": compiled.dataset,
            "records": compiled.records,
            "parameters": compiled.parameters,
            "load": spec.model_dump(mode="json", exclude={"target", "workload"}),
            "report": report.model_dump(mode="json"),
        }
        click.echo(json.dumps(result, indent=2))
    else:
        print_report(report, compiled, server, seed=spec.seed)
    if not report.window_s:
        click.echo(f"plimsoll: nothing was measured: {_end_of_warmup(report, spec)}", err=True)
    if report.ended == "cancelled":
        return 130
    return 0 if any(operation.succeeded for operation in report.operations.values()) else 1


def _end_of_warmup(report: LoadReport, spec: LoadSpec) -> str:
    """Say why there was no window."""
    warmup = words.duration(spec.warmup_s)
    if report.ended == "operations":
        done = f"all {report.operations_sent:,} operations were done"
        return f"{done} in the warm-up of {warmup}; --warmup 0 measures them"
    return f"interrupted in the warm-up of {warmup}"


def _loop(rate: float | None, arrivals: str | None) -> ClosedLoop | OpenLoop:
    if rate is None:
        return ClosedLoop()
    return OpenLoop(
        rate_ops_per_second=rate, arrivals="poisson" if arrivals == "poisson" else "constant"
    )


def _resolve(
    target: EngineTarget, workload: Workload, records: int | None, given: dict[str, Scalar]
) -> tuple[Compiled, EngineWorkload, str]:
    """Read from the database how many rows it has; a load that inserts gets a number of its own."""
    with family_of(target.protocol).open_datasets(target) as datasets:
        server = datasets.version()
        note = datasets.read_note(workload.dataset)
        if note is None and records is None:
            kind = protocol_facts(target.protocol).database_word
            raise PlimsollError(
                f"there is no dataset {workload.dataset!r} in the {kind} {target.database}:"
                f" make it (plimsoll prepare --workload {workload.name} --records N), or say"
                " --records if another tool has made it"
            )
        if note is not None:
            records = note.records if records is None else records
            given = {
                **{k: v for k, v in note.parameters.items() if k in workload.parameters},
                **given,
            }
        compiled = workload.compile(records, given, target.protocol)
        if note is not None:
            check_loaded(compiled, note)
        if note is None or not compiled.inserts:
            return compiled, compiled.engine, server
        return compiled, compiled.engine_workload(datasets.begin_load(compiled)), server


def _run(spec: LoadSpec) -> LoadReport:
    def on_second(text: str) -> None:
        load_s = spec.warmup_s + spec.duration_s
        click.echo(second_line(json.loads(text), spec.warmup_s, load_s), err=True)

    token = plimsoll_engine.CancelToken()
    try:
        with ended_by_signals(token.cancel):
            text = plimsoll_engine.run(spec.model_dump_json(), on_second, token)
    except plimsoll_engine.EngineError as error:
        raise PlimsollError(str(error)) from None
    return LoadReport.model_validate_json(text)

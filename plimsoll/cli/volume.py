"""`plimsoll volume`: runs programs on emulated volumes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import ValidationError

from plimsoll import words
from plimsoll.cli.options import NumberRange, WholeRange
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.aws.instances import instance_limits
from plimsoll.model.aws.volume_rules import Fail, FaultPlan, Heal, Slow, Stall
from plimsoll.model.aws.volumes import (
    VOLUME_TYPES,
    Service,
    Volume,
    VolumeLimits,
    VolumeRates,
    limits,
    rates,
    require_valid_volume,
)
from plimsoll.model.aws.volumes_seen import host_bound, judge_escapes
from plimsoll.model.clouds.volume_rules import Level, find_cloud
from plimsoll.model.validation import describe_first_error
from plimsoll.volumes import EmulatedVolume, VolumeSettings
from plimsoll.volumes.build import check_program
from plimsoll.volumes.calibration import Calibration, compare_with_limits, measure_disk

# Output.


_COLUMNS = (
    ("read/s", 9),
    ("write/s", 9),
    ("flush/s", 9),
    ("MiB/s r", 9),
    ("MiB/s w", 9),
    ("ms r", 8),
    ("ms w", 8),
    ("ms flush", 9),
    ("queue", 8),
    ("credits", 11),
    ("empty in", 13),
    ("host", 8),
    ("past/s", 8),
)


def format_rates_header() -> str:
    """Return the column titles for `format_rates`."""
    return "".join(name.rjust(width) for name, width in _COLUMNS)


def format_rates(seen: VolumeRates) -> str:
    """Format what a volume did in an interval as one line of a table."""
    cells = (
        words.format_rate(seen.read_iops),
        words.format_rate(seen.write_iops),
        words.format_rate(seen.flushes_per_second),
        words.format_rate(seen.read_mib_s),
        words.format_rate(seen.write_mib_s),
        words.format_milliseconds(seen.read_latency_us),
        words.format_milliseconds(seen.write_latency_us),
        words.format_milliseconds(seen.flush_latency_us),
        words.format_rate(seen.queue),
        words.format_number(None if seen.credits is None else round(seen.credits)),
        words.format_duration(None if seen.empty_in_s is None else round(seen.empty_in_s)),
        words.format_percent(seen.late_share),
        words.format_rate(seen.escaped_iops),
    )
    return "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))


def describe_limits(promise: VolumeLimits) -> str:
    """Describe a volume's documented limits."""

    def limit(value: float | None, unit: str) -> str:
        return "no limit" if value is None else f"{words.format_number(value)} {unit}"

    throughput = limit(promise.throughput_mib_s, "MiB/s")
    if promise.burst_throughput_mib_s is not None:
        throughput += f", {words.format_number(promise.burst_throughput_mib_s)} MiB/s in bursts"
    lines = [
        f"baseline    {limit(promise.baseline_iops, 'IOPS')}",
        f"highest     {limit(promise.burst_iops, 'IOPS')}",
        f"throughput  {throughput}",
        f"latency     {words.format_latency(promise.base_latency_us)}, the mean on the idle volume",
    ]
    if promise.burst_credits and promise.burst_iops and promise.baseline_iops:
        lasts_s = promise.burst_credits / (promise.burst_iops - promise.baseline_iops)
        lines.append(
            f"credits     {words.format_number(promise.burst_credits)}: full, they last"
            f" {words.format_duration(lasts_s)} at {words.format_number(promise.burst_iops)} IOPS"
        )
    if promise.stripes > 1:
        lines.append(f"stripes     {promise.stripes}")
    return "\n".join(lines)


def describe_calibration(result: Calibration) -> str:
    """Say whether a machine can stand in for a volume, with the figures."""
    seen = result.measured
    lines = ["", f"{'this machine':32}{'per second':>12}{'MiB/s':>9}{'mean':>10}{'p99':>10}"]
    lines += [
        f"{kind.name:32}{words.format_rate(kind.operations_per_second):>12}{words.format_rate(kind.mib_s):>9}"
        f"{words.format_latency(kind.mean_us):>10}{words.format_latency(kind.p99_us):>10}"
        for kind in (
            seen.read,
            seen.write,
            seen.flush,
            seen.parallel_read,
            seen.parallel_write,
            seen.large_read,
            seen.large_write,
        )
    ]
    lines += ["", "the volume", describe_limits(result.limits), ""]
    if result.host_bound:
        lines.append("host-bound: this machine is slower than the volume")
        lines += [f"  {reason}" for reason in result.reasons]
    else:
        lines.append("this machine can emulate the volume")
    return "\n".join([*lines, *(f"  note: {note}" for note in result.notes)])


DIRECTORY = click.Path(path_type=Path, file_okay=False)
_Command = Callable[..., Any]


def _volume_options(command: _Command) -> _Command:
    for option in reversed(
        (
            click.option(
                "--type",
                "volume_type",
                required=True,
                type=click.Choice(VOLUME_TYPES),
                metavar="TYPE",
                help="Volume type, whose name tells the cloud: " + ", ".join(VOLUME_TYPES) + ".",
            ),
            click.option(
                "--size-gib",
                required=True,
                type=WholeRange(min=1),
                help="Size of the volume in GiB.",
            ),
            click.option("--iops", type=WholeRange(min=1), help="Provisioned IOPS."),
            click.option(
                "--throughput-mib-s",
                type=WholeRange(min=1),
                help="Provisioned throughput in MiB/s.",
            ),
            click.option(
                "--throughput-mb-s",
                type=WholeRange(min=1),
                help="Provisioned throughput in MB/s, as Azure counts it.",
            ),
            click.option(
                "--level", type=click.Choice(get_args(Level)), help="Performance level of an essd."
            ),
            click.option(
                "--burst", is_flag=True, help="Burst at will (essd-autopl, premium-essd)."
            ),
            click.option(
                "--read-cache-mib",
                type=WholeRange(min=1),
                help="Read cache in front of the volume, under direct reads too.",
            ),
            click.option(
                "--read-cache-latency-us",
                type=NumberRange(0, 100_000),
                default=100.0,
                show_default=True,
                help="Mean latency of a read that the read cache answers.",
            ),
            click.option(
                "--service",
                type=click.Choice(get_args(Service)),
                default="ebs",
                show_default=True,
                help="Service whose rules apply: RDS stripes volumes from 400 GiB.",
            ),
        )
    ):
        command = option(command)
    return command


def _json_option(command: _Command) -> _Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(
        command
    )


def _read_volume(options: dict[str, Any]) -> tuple[Volume, Service]:
    volume = Volume(
        cloud=find_cloud(options["volume_type"]),
        type=options["volume_type"],
        level=options["level"],
        size_gib=options["size_gib"],
        iops=options["iops"],
        throughput_mib_s=options["throughput_mib_s"],
        throughput_mb_s=options["throughput_mb_s"],
        burst=options["burst"],
        read_cache_mib=options["read_cache_mib"],
        read_cache_latency_us=options["read_cache_latency_us"],
    )
    require_valid_volume(volume, service=options["service"])
    return volume, options["service"]


@click.group("volume")
def volume() -> None:
    """Run programs on volumes that behave like those of a cloud, and watch them."""


@volume.command("limits")
@_volume_options
@_json_option
def show_limits(*, as_json: bool, **options: Any) -> None:
    """Show a volume's limits: IOPS, throughput, credits, latency."""
    asked, service = _read_volume(options)
    promise = limits(asked, service=service)
    click.echo(promise.model_dump_json(indent=2) if as_json else describe_limits(promise))


@volume.command("run", context_settings={"ignore_unknown_options": True})
@_volume_options
@click.option(
    "--dir",
    "directory",
    required=True,
    type=DIRECTORY,
    help="Folder whose files are on the volume.",
)
@click.option("--credits", type=NumberRange(min=0), help="Burst credits at the start (gp2).")
@click.option(
    "--instance-class", help="Instance class whose own I/O limits apply too, such as db.m5.large."
)
@click.option(
    "--base-latency-us",
    type=NumberRange(min=0),
    help="Latency of an idle volume in microseconds. Default: the type's own.",
)
@click.option(
    "--flush-ios",
    type=WholeRange(min=0),
    default=0,
    help="I/Os that a flush costs in addition.",
)
@click.option(
    "--page-cache-mib",
    type=WholeRange(min=0),
    default=0,
    help="Page cache of the instance in MiB.",
)
@click.argument("command", nargs=-1, required=True)
def run(
    *,
    directory: Path,
    credits: float | None,  # noqa: A002 - AWS's word
    instance_class: str | None,
    base_latency_us: float | None,
    flush_ios: int,
    page_cache_mib: int,
    command: tuple[str, ...],
    **options: Any,
) -> None:
    """Run COMMAND with the files under --dir on an emulated volume.

    Exits with COMMAND's code, but with 1 instead of 0 if over 1 % of its I/O bypassed the volume.
    """
    asked, service = _read_volume(options)
    check_program(command[0])
    try:
        settings = VolumeSettings(
            base_latency_us=base_latency_us, flush_ios=flush_ios, page_cache_mib=page_cache_mib
        )
    except ValidationError as error:
        raise UsageError(describe_first_error(error)) from error
    with EmulatedVolume.create(
        directory,
        asked,
        service=service,
        credits=credits,
        instance_limits=instance_limits(instance_class) if instance_class else None,
        settings=settings,
    ) as emulated:
        before = emulated.sample()
        code = _run_command(command, emulated)
        after = emulated.sample()
    if after.attached_processes == 0:
        raise PlimsollError(f"{command[0]} never used the emulated volume")
    baseline = emulated.limits.baseline_iops
    click.echo(format_rates_header(), err=True)
    click.echo(format_rates(rates(before, after, baseline_iops=baseline)), err=True)
    click.echo(host_bound(before, after).sentence, err=True)
    escaped = judge_escapes(before, after)
    if escaped.sentence is not None:
        click.echo(escaped.sentence, err=True)
    sys.exit(code if escaped.held else code or 1)


def _run_command(command: tuple[str, ...], emulated: EmulatedVolume) -> int:
    """Run the command to its end, passing on signals that would end this process."""
    process = subprocess.Popen(command, env={**os.environ, **emulated.environment()})
    for passed_on in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(passed_on, lambda number, _frame: process.send_signal(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the command itself
    code = process.wait()
    return code if code >= 0 else 128 - code


@volume.command("stat")
@click.argument("directory", type=DIRECTORY)
@click.option(
    "--seconds",
    type=WholeRange(min=1),
    help="How long to watch, in seconds. Default: until the volume is gone.",
)
@_json_option
def stat(*, directory: Path, seconds: int | None, as_json: bool) -> None:
    """Show what the volume on DIRECTORY does, each second."""
    with EmulatedVolume.open(directory) as emulated:
        baseline = emulated.limits.baseline_iops
        before, shown = emulated.sample(), 0
        due = time.monotonic()
        while seconds is None or shown < seconds:
            due += 1
            time.sleep(max(0.0, due - time.monotonic()))
            after = emulated.sample()
            seen = rates(before, after, baseline_iops=baseline)
            if as_json:
                click.echo(seen.model_dump_json())
            else:
                if shown % 20 == 0:
                    click.echo(format_rates_header())
                click.echo(format_rates(seen))
            before, shown = after, shown + 1
            if not emulated.exists():
                return


@volume.command("change")
@click.argument("directory", type=DIRECTORY)
@_volume_options
@click.option("--credits", type=NumberRange(min=0), help="Burst credits from now (gp2).")
def change(*, directory: Path, credits: float | None, **options: Any) -> None:  # noqa: A002 - AWS's word
    """Change the volume on DIRECTORY while programs run on it."""
    with EmulatedVolume.open(directory) as emulated:
        options["service"] = emulated.service
        asked, _ = _read_volume(options)
        emulated.reconfigure(asked, credits=credits)
        click.echo(describe_limits(emulated.limits), err=True)


@volume.command("calibrate")
@_volume_options
@click.option(
    "--dir", "directory", type=DIRECTORY, default=".", help="Folder on the disk to measure."
)
@click.option(
    "--seconds-each",
    type=NumberRange(0.1, 60),
    default=2.0,
    show_default=True,
    help="Length of each of the seven measurements, in seconds.",
)
@_json_option
def calibrate(*, directory: Path, seconds_each: float, as_json: bool, **options: Any) -> None:
    """Measure whether this machine's disk can stand in for the volume.

    Exit code 1: it cannot.
    """
    asked, service = _read_volume(options)
    lasts = words.format_duration(7 * seconds_each)
    click.echo(f"measuring {directory.resolve()} for {lasts} ...", err=True)
    result = compare_with_limits(
        measure_disk(directory, seconds_each=seconds_each), limits(asked, service=service)
    )
    click.echo(result.model_dump_json(indent=2) if as_json else describe_calibration(result))
    sys.exit(1 if result.host_bound else 0)


@volume.group("fault")
def fault() -> None:
    """Inject a fault into the volume on DIRECTORY."""


def _inject(directory: Path, plan: FaultPlan) -> None:
    with EmulatedVolume.open(directory) as emulated:
        emulated.inject(plan)


@fault.command("stall")
@click.argument("directory", type=DIRECTORY)
@click.option(
    "--seconds",
    required=True,
    type=NumberRange(0, 3600, min_open=True),
    help="Duration in seconds.",
)
def stall(*, directory: Path, seconds: float) -> None:
    """Let no I/O complete for some seconds."""
    _inject(directory, Stall(duration_s=seconds))


@fault.command("slow")
@click.argument("directory", type=DIRECTORY)
@click.option(
    "--factor",
    required=True,
    type=NumberRange(1, 10_000),
    help="How many times as much an I/O costs and takes.",
)
@click.option(
    "--seconds",
    type=NumberRange(0, min_open=True),
    help="Duration in seconds. Default: until healed.",
)
def slow(*, directory: Path, factor: float, seconds: float | None) -> None:
    """Make each I/O cost and take --factor times as much."""
    _inject(directory, Slow(factor=factor, duration_s=seconds))


@fault.command("fail")
@click.argument("directory", type=DIRECTORY)
@click.argument("error", type=click.Choice(["EIO", "ENOSPC"]))
@click.option("--after", type=WholeRange(min=0), default=0, help="Operations that succeed first.")
@click.option("--operations", type=WholeRange(min=1), help="Operations that fail. Default: all.")
def fail(*, directory: Path, error: Any, after: int, operations: int | None) -> None:
    """Make operations fail with EIO, or writes with ENOSPC."""
    _inject(directory, Fail(error=error, after_operations=after, operations=operations))


@fault.command("heal")
@click.argument("directory", type=DIRECTORY)
def heal(*, directory: Path) -> None:
    """End all faults."""
    _inject(directory, Heal())

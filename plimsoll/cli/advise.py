"""`plimsoll advise`: what to buy for a database, from its own history and without a load."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.exit_codes import FAILURE, MET, NOT_SURE
from plimsoll.cli.observing import SERVER_MOST_S
from plimsoll.cli.options import WholeRange
from plimsoll.cli.output import console, make_table, print_figures
from plimsoll.cli.size import SHOWN, add_price_options, find_prices
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load_line.options import PASSWORD

if TYPE_CHECKING:
    from rich.console import Console

    from plimsoll.sizing.advise import Advice, Seen

RDS_FOR, SERVER_FOR = "15d", "10m"
ACCOUNT = "rds:"
# version of an engine whose price and rules are taken where only its address is known
VERSIONS = {"mysql": "8.4", "mariadb": "11.4", "postgres": "17"}


@click.command("advise")
@click.argument("source", metavar="SOURCE", envvar="PLIMSOLL_DSN")
@click.option(
    "--for", "for_text", metavar="TIME", help="How far back: rds:// 15d; how long: a server 10m."
)
@click.option("--growth", metavar="TIMES", help="Growth of the load: 2x/year, 30%/year, 3%/month.")
@click.option("--horizon", metavar="TIME", help="With --growth: when: 2y, 18months. Default: 1y.")
@click.option(
    "--size-gib",
    type=WholeRange(1, 65_536),
    metavar="GIB",
    help="Size of the smallest volume that holds the data. Default: today's.",
)
@click.option("--classes", is_flag=True, help="Judge other instance classes too.")
@click.option(
    "--class", "instance_class", metavar="CLASS", help="Class that a server is to have on RDS."
)
@click.option(
    "--volume", metavar="FIELDS", help="Volume that a server stands on: type=gp3,size_gib=400."
)
@add_price_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(
    source: str,
    *,
    for_text: str | None,
    growth: str | None,
    horizon: str | None,
    size_gib: int | None,
    classes: bool,
    instance_class: str | None,
    volume: str | None,
    region: str | None,
    prices_file: Path | None,
    as_json: bool,
) -> int:
    """Say what to buy for the database SOURCE, from its own history and without a load.

    SOURCE is rds://INSTANCE, whose minutes CloudWatch keeps; rds: for all instances of the account;
    or mysql://USER@HOST/DATABASE or similar, whose counters are read each second (then --class is
    needed). Nothing is changed. docs/advise.md says how it is decided.

    Exit code 1: nothing is expected to carry the load, or an instance is at risk. 4: what is
    expected to carry it may not.
    """
    from plimsoll.sizing.advise import advise
    from plimsoll.sizing.rank import parse_growth, parse_horizon

    if horizon is not None and growth is None:
        raise UsageError("--horizon: needs --growth, such as --growth 50%/year")
    factor = 1.0
    if growth is not None:
        times = parse_growth(growth, "--growth")
        factor = times ** (1.0 if horizon is None else parse_horizon(horizon, "--horizon"))
    prices = find_prices(region, prices_file)

    def judge(seen: Seen) -> Advice:
        return advise(seen, prices, factor=factor, least_gib=size_gib, classes=classes)

    if source in {ACCOUNT, f"{ACCOUNT}//"}:
        return _advise_account(for_text, judge, as_json=as_json)
    answer = judge(_see(source, _Asked(for_text, instance_class, volume, size_gib)))
    if as_json:
        click.echo(answer.model_dump_json(indent=2))
    else:
        print_advice(answer)
    if not answer.choices:
        return FAILURE
    return MET if answer.choices[0].outlook == "carries" else NOT_SURE


@dataclass(frozen=True)
class _Asked:
    """What the options say of the database, as they were given."""

    for_text: str | None
    instance_class: str | None
    volume: str | None
    size_gib: int | None


def _see(source: str, asked: _Asked) -> Seen:
    from plimsoll.sizing.production_on_rds import parse_instance, read_instances

    try:
        instance = parse_instance(source)
    except UsageError as error:
        raise error.within("SOURCE") from None
    if instance is None:
        return _see_server(source, asked)
    if asked.instance_class or asked.volume:
        raise UsageError("--class and --volume: are of a server; RDS says them of its instances")
    [(_, target, notes)] = read_instances([instance])
    if isinstance(target, str):
        raise UsageError(f"SOURCE: {instance}: {target}")
    return _see_instance(instance, target, notes, asked.for_text)


def _see_instance(
    instance: str, target: object, notes: tuple[str, ...], for_text: str | None
) -> Seen:
    from plimsoll.model.request.quantities import parse_duration_s
    from plimsoll.model.request.rds_target import RdsTarget
    from plimsoll.sizing.advise import Seen
    from plimsoll.sizing.production_on_rds import read_instance_history

    assert isinstance(target, RdsTarget)  # noqa: S101 - the caller has looked
    for_s = parse_duration_s(for_text or RDS_FOR, "--for")
    history = read_instance_history(instance, for_s, datetime.now(UTC))
    return Seen(instance, "cloudwatch", target, True, history, notes)


def _see_server(source: str, asked: _Asked) -> Seen:
    from plimsoll.load_line.request import read_volume
    from plimsoll.model.aws.volumes import Volume
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.model.request.quantities import parse_duration_s
    from plimsoll.model.request.rds_target import RdsTarget
    from plimsoll.sizing.advise import Seen
    from plimsoll.sizing.production_server import read_server_history

    scheme = source.partition("://")[0].replace("postgresql", "postgres")
    if "://" not in source or scheme not in VERSIONS:
        raise UsageError(
            "SOURCE: the form is rds://INSTANCE, rds: or mysql://USER@HOST/DATABASE (or mariadb://,"
            " postgres://)"
        )
    if asked.instance_class is None or (asked.volume is None and asked.size_gib is None):
        raise UsageError(
            "--class: of a server, name the class that it is to have, and --volume or --size-gib"
        )
    standing = Volume(type="gp3", size_gib=max(20, asked.size_gib or 20))
    if asked.volume is not None:
        standing = read_volume(asked.volume)
    target = RdsTarget.model_validate(
        {
            "engine": scheme,
            "engine_version": VERSIONS[scheme],
            "instance_class": asked.instance_class,
            "volume": standing,
        }
    )
    engine = parse_dsn(source, option="SOURCE", password=os.environ.get(PASSWORD, ""))
    for_s = parse_duration_s(asked.for_text or SERVER_FOR, "--for")
    if for_s > SERVER_MOST_S:
        raise UsageError("--for: of a server a day at most")
    if sys.stderr.isatty():
        click.echo(f"reading for {words.format_duration(for_s)}; nothing is changed", err=True)
    history, whole = read_server_history(engine, for_s, time.sleep)
    notes = () if whole else ("I/O that the operating system's cache may have served",)
    return Seen(
        f"{engine.host}/{engine.database}",
        "server",
        target,
        asked.volume is not None,
        history,
        notes,
    )


def print_advice(answer: Advice) -> None:
    """Print the answer: a paragraph to read out, the choices, and what is not known."""
    out = console()
    unknown = "; ".join(answer.unknown)
    _say(
        out,
        f"{words.escape_controls(answer.database)}: {answer.sentence} Not known: {unknown}."
        f" This would tell: {answer.decides}",
    )
    out.print()
    right = ("$/month", "late", "to", "minutes over")
    table = make_table("target", *right, "", right=right)
    rows = list(answer.choices[:SHOWN])
    if answer.today is not None and answer.today not in rows:
        rows.append(answer.today)
    for choice in rows:
        volume = choice.target.volume
        parts = [volume.type, f"{volume.size_gib:,} GiB"]
        parts += [f"{volume.iops:,} IOPS"] if volume.iops else []
        parts += [f"{volume.throughput_mib_s:,} MiB/s"] if volume.throughput_mib_s else []
        price = choice.usd_per_month
        table.add_row(
            f"{choice.target.instance_class} {' '.join(parts)}",
            words.NOTHING if price is None else words.format_monthly_usd(price),
            words.format_percent(choice.late_share),
            words.format_percent(choice.late_share_most),
            words.format_percent(choice.minutes_over),
            "today" if choice == answer.today else choice.outlook,
        )
    print_figures(out, table)
    _say(
        out,
        "late: at most this share of the I/Os queues longer than 10 ms, with a probability of 90 %;"
        " to: at the worst",
    )
    binding = answer.choices[0] if answer.choices else answer.today
    if binding is not None:
        _say(out, f"nearest to its limit: {binding.binds}")


def _say(out: Console, text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=not out.is_terminal)


def _advise_account(for_text: str | None, judge: Callable[[Seen], Advice], *, as_json: bool) -> int:
    """Judge all instances of the account, by the dollars a month that a change saves."""
    from plimsoll.sizing.production_on_rds import read_instances

    found: list[Advice] = []
    left_out: dict[str, str] = {}
    for instance, target, notes in read_instances():
        if isinstance(target, str):
            left_out[instance] = target
            continue
        try:
            found.append(judge(_see_instance(instance, target, notes, for_text)))
        except (UsageError, PlimsollError) as error:
            left_out[instance] = words.escape_controls(str(error))
    found.sort(key=lambda one: -(_find_saving(one) or 0.0))
    if as_json:
        instances = [one.model_dump(mode="json") for one in found]
        click.echo(json.dumps({"instances": instances, "left_out": left_out}, indent=2))
    else:
        out = console()
        told = [
            words.format_count(count, name, name)
            for name in ("idle", "over-provisioned", "at risk")
            if (count := sum(one.standing == name for one in found))
        ]
        _say(
            out,
            f"{words.format_count(len(found), 'instance')}: {words.join_names(told) or 'all fit'}",
        )
        table = make_table("instance", "stands", "$/month less", "buy", right=("$/month less",))
        for one in found:
            saving = _find_saving(one)
            table.add_row(
                one.database,
                one.standing,
                words.NOTHING if saving is None else f"{saving:,.0f}",
                "nothing" if one.standing == "idle" else _name_first(one),
            )
        print_figures(out, table)
        for instance, why in left_out.items():
            _say(out, f"left out: {instance}: {why}")
    return FAILURE if any(one.standing == "at risk" for one in found) else MET


def _find_saving(one: Advice) -> float | None:
    """Return what a change saves a month: of an idle instance its whole price."""
    if one.standing == "idle":
        return one.today.usd_per_month if one.today else None
    return one.usd_less


def _name_first(one: Advice) -> str:
    from plimsoll.model.request.descriptions import describe_volume

    return describe_volume(one.choices[0].target.volume) if one.choices else "a larger class"

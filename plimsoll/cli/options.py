"""Options that several verbs share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError
from plimsoll.model.dsn import FORM
from plimsoll.workload import Workload

Command = TypeVar("Command", bound=Callable[..., Any])


def dsn_option(command: Command) -> Command:
    """Add `--dsn`."""
    return click.option(
        "--dsn",
        envvar="PLIMSOLL_DSN",
        required=True,
        metavar="DSN",
        help=f"The database: {FORM}[?tls=require]. Or the variable PLIMSOLL_DSN,"
        " which keeps the password out of the list of processes.",
    )(command)


def workload_options(command: Command) -> Command:
    """Add `--workload`, `--tables` and `--set`."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set a parameter of the workload; `plimsoll workloads show NAME` lists them.",
        ),
        click.option(
            "--tables", type=int, metavar="N", help="The same as --set tables=N (sysbench)."
        ),
        click.option(
            "--workload",
            "workload_name",
            required=True,
            metavar="NAME|FILE.yaml",
            help="A built-in workload (see `plimsoll workloads`), or a file.",
        ),
    ):
        command = option(command)
    return command


def parse_settings(
    workload: Workload, settings: tuple[str, ...], tables: int | None
) -> dict[str, Scalar]:
    """Read `--set` and `--tables`.

    Raises:
        UsageError: Not NAME=VALUE, a name twice, or a parameter that the workload does not have.
    """
    values: dict[str, Scalar] = {}
    pairs = [setting.partition("=") for setting in settings]
    if tables is not None:
        pairs.append(("tables", "=", str(tables)))
    for name, equals, value in pairs:
        if not equals or not name:
            raise UsageError(f"--set: must be NAME=VALUE, not {name!r}")
        if name in values:
            raise UsageError(f"--set: {name} is there twice")
        if name not in workload.parameters:
            known = ", ".join(workload.parameters) or "none"
            raise UsageError(f"--set: {workload.name} has no parameter {name!r} (it has: {known})")
        values[name] = workload.setting(name, value)
    return values

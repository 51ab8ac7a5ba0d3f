"""`plimsoll doctor`: what this machine has, what it lacks, and how to install that."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, get_args

import click

from plimsoll import __version__
from plimsoll.cli.output import console
from plimsoll.errors import PlimsollError, UnusableToolError
from plimsoll.local.databases.server_programs import list_server_programs
from plimsoll.model.engine.asked import Protocol
from plimsoll.packaged import explain_install, is_installed_wheel

if TYPE_CHECKING:
    from plimsoll.local.databases.server_programs import ServerProgram


# who installs a wheel mostly measures a database that there is
NEEDED_FOR_RUNS = "not here: `run --local` needs it, `find` does not"


@dataclass(frozen=True)
class Finding:
    """One program or library that was looked for.

    Attributes:
        what: The name.
        state: The state: `ok`, `missing`, or `optional` if it is missing but rarely needed.
        detail: The version found, or the purpose.
        command: The command that installs it; None if it is present.
    """

    what: str
    state: str
    detail: str
    command: str | None = None


def _find_python() -> Finding:
    return Finding("Python", "ok", platform.python_version())


def _find_engine() -> Finding:
    try:
        engine = importlib.import_module("plimsoll_engine")
    except ImportError as error:
        if is_installed_wheel():
            how = "install the wheel of this processor again"
            return Finding("load engine", "missing", f"the wheel lacks it ({error})", how)
        if shutil.which("cargo") is None:
            how = "apt-get install rustup && rustup default stable && make setup"
            return Finding("load engine", "missing", "not built, and there is no Rust", how)
        return Finding("load engine", "missing", f"not built ({error})", "make setup")
    return Finding("load engine", "ok", str(engine.__version__))


def _find_server_program(program: ServerProgram) -> Finding:
    try:
        return Finding(program.name, "ok", program.describe())
    except PlimsollError as error:
        how = program.how_to_get
        if shutil.which("mvn"):
            how = how.removeprefix("apt-get install maven, and ")
        if program.why_optional is not None:
            return Finding(program.name, "optional", program.why_optional, how)
        if is_installed_wheel() and not isinstance(error, UnusableToolError):
            return Finding(program.name, "optional", NEEDED_FOR_RUNS, how)
        return Finding(program.name, "missing", str(error), how)


def _find_twin() -> Finding:
    needed = {"moto": "moto", "jsonata": "jsonata-python", "awslambdaric": "awslambdaric"}
    absent = [name for module, name in needed.items() if not _can_import(module)]
    if absent and is_installed_wheel():
        what = f"no {', '.join(absent)}: `run --local` and `serve` need them, `find` does not"
        return Finding("local twin", "optional", what, explain_install("local"))
    if absent:
        return Finding("local twin", "missing", f"no {', '.join(absent)}", explain_install("local"))
    versions = [f"{name} {importlib.metadata.version(name)}" for name in needed.values()]
    return Finding("local twin", "ok", ", ".join(versions))


def _can_import(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _find_volume_shim() -> Finding:
    from plimsoll.volumes.build import find_native_part

    try:
        return Finding("volume shim", "ok", str(find_native_part("shim")))
    except PlimsollError as error:
        if is_installed_wheel():
            command = "apt-get install gcc libc6-dev"
            return Finding("volume shim", "optional", NEEDED_FOR_RUNS, command)
        return Finding("volume shim", "missing", str(error), "apt-get install gcc libc6-dev")


def _remove_leftovers() -> Finding:
    from plimsoll.local.leftovers import remove_leftovers

    told: list[str] = []
    remove_leftovers(told.append)
    return Finding("killed runs", "ok", "; ".join(told) or "none has left anything")


def _find_old_prices() -> Finding:
    """Name the sources of built-in prices that are older than a year, or have no date."""
    from plimsoll.quoting.cloud_prices import list_old_sources, list_undated_sources

    named = {
        "older than a year": list_old_sources(datetime.now(UTC).date()),
        "without a date": list_undated_sources(),
    }
    detail = "; ".join(
        f"{what}: {', '.join(sources)}" for what, sources in named.items() if sources
    )
    if not detail:
        return Finding("prices", "ok", "none is older than a year")
    return Finding("prices", "optional", detail, "plimsoll prices --region us-east-1")


def _find_program(what: str, program: str, purpose: str, command: str) -> Finding:
    path = shutil.which(program)
    if path is None:
        return Finding(what, "optional", f"not here: {purpose}", command)
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    lines = click.unstyle(answer.stdout or answer.stderr).splitlines() or [path]
    return Finding(what, "ok", lines[0])


CHECKS: tuple[Callable[[], Finding], ...] = (
    _find_python,
    _find_engine,
    *(
        partial(_find_server_program, program)
        for protocol in get_args(Protocol)
        for program in list_server_programs(protocol)
    ),
    _find_twin,
    _find_volume_shim,
    _remove_leftovers,
    _find_old_prices,
    lambda: _find_program(
        "Maven", "mvn", "it fetches the database servers", "apt-get install maven"
    ),
    lambda: _find_program("C compiler", "cc", "it builds the volume shim", "apt-get install gcc"),
    lambda: _find_program("Node.js", "node", "`cdk deploy` needs it", "apt-get install nodejs npm"),
)


def _find_rust() -> Finding:
    return _find_program("Rust", "cargo", "it builds the engine", "apt-get install rustup")


def list_findings() -> list[Finding]:
    """Look for everything; Rust only in a checkout, since a wheel holds the built engine."""
    checks = CHECKS if is_installed_wheel() else (*CHECKS, _find_rust)
    return [Finding("Plimsoll", "ok", __version__), *(check() for check in checks)]


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(*, as_json: bool) -> int:
    """List what is present, what is missing, and the command that installs it.

    What killed runs have left on this machine is removed.

    Exits with 1 if something is missing without which Plimsoll cannot run here.
    """
    from rich.table import Table
    from rich.text import Text

    findings = list_findings()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("", "state", "what is there", "to get it"):
            table.add_column(name, overflow="fold")  # a path is never cut
        for finding in findings:
            # Markup would take the [local] of a command for a style.
            cells = (finding.what, finding.state, finding.detail, finding.command or "")
            table.add_row(*map(Text, cells))
        console().print(table)
    return int(any(finding.state == "missing" for finding in findings))

"""The command that tries again, as the last line of a measurement that a busy machine spoiled."""

import re
import shlex
from itertools import count
from pathlib import Path

import click

from plimsoll.cli.expecting import Results

_PASSWORD = re.compile(r"(://[^:@/]*):[^@]*@")  # the password in a DSN, after its user


def tell_retry(results: Results, *, as_json: bool) -> None:
    """Print the command that tries again if other programs kept a run from an exact answer.

    It goes to standard error if standard output holds JSON.
    """
    capacities = [result.capacity for _, result in results.values()]
    given = click.get_current_context().find_root().obj
    if isinstance(given, list) and any(found and found.disturbed for found in capacities):
        click.echo(f"Try again on a calm machine: {format_retry(given)}", err=as_json)


def format_retry(arguments: list[str]) -> str:
    """Return a command to repeat, without the password of a DSN, and with a folder that is free."""
    kept, before = ["plimsoll"], ""
    for argument in arguments:
        if before == "--out":
            kept.append(_find_free(argument))
        elif argument.startswith("--out="):
            kept.append(f"--out={_find_free(argument.removeprefix('--out='))}")
        else:
            kept.append(_PASSWORD.sub(r"\1@", argument))
        before = argument
    return shlex.join(kept)


def _find_free(folder: str) -> str:
    """Return the folder with the least number from 2 on that no file has."""
    base = folder.rstrip("/")
    return next(name for n in count(2) if not Path(name := f"{base}-{n}").exists())

"""`npx cdk`, as the README deploys, with its output in a file and its time told."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from plimsoll import words
from plimsoll.canary.place import Teller
from plimsoll.errors import MissingToolError, PlimsollError

_LOOK_EVERY_S = 0.5
_END_PATIENCE_S = 20.0
_LINES_SHOWN = 5


def cdk(arguments: Sequence[str], *, root: Path, log: Path, teller: Teller) -> None:
    """Run `npx cdk` to its end; whatever ends the waiting ends it, too.

    Args:
        arguments: Behind `cdk`.
        root: Where `cdk.json` is.
        log: Gets what it prints, behind what is there.
        teller: Is told twice a second what is waited for; may raise to end it.

    Raises:
        MissingToolError: There is no npx.
        PlimsollError: It failed; with its last lines.
    """
    began = time.monotonic()
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                ["npx", "cdk", *arguments],
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is ours alone
            )
        except FileNotFoundError:
            raise MissingToolError("npx is missing: install Node.js 20 or later") from None
    try:
        while process.poll() is None:
            lasted = words.duration(round(time.monotonic() - began))
            teller.status(f"npx cdk {arguments[0]}, {lasted}: {_last_line(log)}")
            time.sleep(_LOOK_EVERY_S)
    except BaseException:
        _end(process)
        raise
    if process.returncode:
        lines = " | ".join(_lines(log)[-_LINES_SHOWN:])
        code = process.returncode
        raise PlimsollError(
            f"npx cdk {arguments[0]} failed with exit code {code}: {lines} (all of it: {log})"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it has started; what CloudFormation has begun goes on there."""
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_END_PATIENCE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        else:
            return


def _lines(log: Path) -> list[str]:
    text = log.read_bytes()[-4000:].decode(errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _last_line(log: Path) -> str:
    lines = _lines(log)
    return lines[-1][:100] if lines else "starting"

"""Where the functions of the tests' twin are held: runs in their processes."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

LOOK_S = 0.02
_CALLS = {"here": 0}  # of this process: a load that is over is not waited for in the next one


def pass_gate(gates: Path, function: str, event: dict[str, Any]) -> None:
    """Wait while the function's gate is closed; have it frozen under load where that is asked."""
    number = event.get("client", event.get("part", {}).get("share"))
    name = function if number is None else f"{function}-{number}"
    gate = _closed(gates, name, event)
    if gate is not None:
        _tell(gate)
        while gate.exists():
            time.sleep(LOOK_S)
    freezing = _closed(gates, f"freeze-{name}", event)
    _CALLS["here"] += 1
    if freezing is not None:
        arguments = (freezing, event["start_at_epoch_ms"] / 1000, _CALLS["here"])
        threading.Thread(target=_freeze, args=arguments, daemon=True).start()


def _closed(gates: Path, name: str, event: dict[str, Any]) -> Path | None:
    """Give the gate that is closed for a run, or for every run; None where none is."""
    both = gates / f"{name}-{event.get('run_id')}", gates / name
    return next((gate for gate in both if gate.exists()), None)


def _tell(gate: Path) -> None:
    """Say which process is here; whoever sees the file finds it written."""
    written = gate.with_suffix(".writing")
    written.write_text(str(os.getpid()))
    written.replace(gate.with_suffix(".reached"))


def _freeze(gate: Path, start_at_s: float, call: int) -> None:
    """Stop this process when its load is under way; whoever wants it to go on says so (SIGCONT)."""
    while time.time() < start_at_s or not _connected():
        time.sleep(LOOK_S)
        if call != _CALLS["here"]:  # it came too late, and sent nothing
            return
    _tell(gate)
    os.kill(os.getpid(), signal.SIGSTOP)


def _connected() -> bool:
    """Say whether this process has a connection besides those to AWS and to its runtime."""
    runtime = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}"
    aws = {urlsplit(url).port for url in (os.environ["AWS_ENDPOINT_URL"], runtime)}
    open_now = psutil.Process().net_connections("tcp")
    return any(c.raddr and c.raddr.port not in aws for c in open_now)

"""`plimsoll run` in a place of its own, held at the begin of a phase, so that a fault meets it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import psutil

from plimsoll.model.request.request import Request
from tests.faults.place import Place
from tests.local.workflow.conftest import ANSWERED, tiny
from tests.local.workflow.pool import ROOT, write_gated_functions

# tests that run in the background ignore Ctrl-C, and so would what they start
MAIN = """
import signal
from pathlib import Path

import plimsoll.local.twin as twin

signal.signal(signal.SIGINT, signal.default_int_handler)
find = twin.find_packaged_folder
twin.find_packaged_folder = lambda name: Path({functions!r}) if name == "functions" else find(name)
from plimsoll.cli.main import main
main()
"""
HELD = {  # by phase: the function that is held when it begins, or frozen under its load
    "provision": "await-target",
    "prepare": "load-dataset-0",
    "load": "freeze-load-client-0",
    "judge": "judge-step",
    "switch": "switch-target",
    "conclude": "conclude",
    "teardown": "delete-target",
}
POSTGRES = {"engine": "postgres", "engine_version": "18"}
PROGRAMS = {"mysql": "bin/mariadbd", "mariadb": "bin/mariadbd", "postgres": "bin/postgres"}
LOOK_S = 0.05
PATIENCE_S = 240.0  # what takes longer hangs


@dataclass(frozen=True)
class FaultyRun:
    """A run that is held.

    Attributes:
        command: `plimsoll run` itself.
        worker: The process of the function that is held.
        gate: The file that holds it.
        server: In the command line of its database.
    """

    place: Place
    command: "subprocess.Popen[str]"
    worker: psutil.Process
    gate: Path
    server: str

    @classmethod
    def start(
        cls,
        place: Place,
        folder: Path,
        phase: str,
        target: Mapping[str, str] = MappingProxyType({}),
    ) -> "FaultyRun":
        """Start it, with some fields of its target, and wait until it has reached a phase."""
        gates = folder / "gates"
        gates.mkdir()
        gate = gates / HELD[phase]
        gate.touch()
        request = requested(target, toggled=phase == "switch")
        command = started(place, folder, gates, request)
        reached = gate.with_suffix(".reached")
        await_true(lambda: reached.exists() or command.poll() is not None, f"{phase} reached")
        if command.poll() is not None:
            raise AssertionError("it ended before: " + "".join(command.communicate()))
        worker = psutil.Process(int(reached.read_text()))
        server = PROGRAMS[str(request.target.engine)]
        return cls(place, command, worker, gate, server)

    def process(self, words: str) -> psutil.Process:
        """Find the process of the run whose command line has some words, once it is there."""
        found: list[psutil.Process] = []

        def there() -> bool:
            found[:] = [p for p in self.place.processes() if words in _command_line(p)]
            return bool(found)

        await_true(there, words)
        # a sandbox has its nursery's command line: the first of them is the parent
        return min(found, key=lambda process: process.create_time())

    def let_go(self) -> None:
        """Open the gate: what is held goes on, if it still lives."""
        self.gate.unlink()
        with suppress(psutil.NoSuchProcess):
            self.worker.send_signal(signal.SIGCONT)


def requested(
    target: Mapping[str, str] = MappingProxyType({}), *, toggled: bool = False
) -> Request:
    """Ask for a run of seconds."""
    changed: dict[str, object] = {f"target__{name}": value for name, value in target.items()}
    if toggled:
        states = [
            {"name": v.lower(), "parameters": {"innodb_doublewrite": v}} for v in ("ON", "OFF")
        ]
        changed["toggle"] = {"states": states, "pairs": 3, "restart": "always"}
    return tiny("faulty", load__duration_s=2, **ANSWERED, **changed)


def started(
    place: Place, folder: Path, gates: Path, request: Request | None = None
) -> "subprocess.Popen[str]":
    """Start a run of seconds whose functions pass the gates."""
    functions = write_gated_functions(folder / "functions", gates)
    file = folder / "request.yaml"
    file.write_text((request or requested()).model_dump_json())  # is YAML
    main = MAIN.format(functions=str(functions))
    arguments = ["run", str(file), "--local", "--out", str(folder / "out")]
    on_disk = ["--data-dir", str(place.temporary)]
    return place.start([sys.executable, "-c", main, *arguments, *on_disk], folder=ROOT)


def await_true(true: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(LOOK_S)


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended
        return ""

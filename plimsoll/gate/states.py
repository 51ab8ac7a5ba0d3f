"""A state's copy: a database of the gate's own with a fresh dataset and the state's changes."""

import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from urllib.parse import quote, unquote, urlsplit

from plimsoll.complaints import Scalar
from plimsoll.databases.connecting import shorten_message
from plimsoll.databases.counting import WorkCounter
from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Compiled, Workload

PROGRAM_MAX_S = 600.0  # longest time of a program that sets a state up


@dataclass(frozen=True)
class StateSetup:
    """What makes a state.

    Attributes:
        name: `before` or `after`.
        dsn: The server, as a data source name; its database is only logged into.
        target: The same, parsed.
        workload: What is sent.
        parameters: The workload parameters that differ from their defaults.
        records: The number of records; None for the workload's default.
        statements: SQL that is executed in each copy after the dataset is loaded.
        program: A program and its arguments, run after the SQL; empty for none.
    """

    name: str
    dsn: str
    target: EngineTarget
    workload: Workload
    parameters: Mapping[str, Scalar]
    records: int | None = None
    statements: tuple[str, ...] = ()
    program: tuple[str, ...] = ()

    def compile(self) -> Compiled:
        """Compile the workload for the server's family."""
        return self.workload.compile(self.records, self.parameters, self.target.protocol)

    def describe(self) -> dict[str, object]:
        """Return what of a measurement's `Setting` is known without the server, by its fields."""
        compiled = self.compile()
        return {
            "protocol": self.target.protocol,
            "dataset": compiled.dataset,
            "records": compiled.records,
            "parameters": compiled.dataset_parameters,
        }


@dataclass(frozen=True)
class Copy:
    """A database of the gate's own.

    Attributes:
        target: The engine's connection settings.
        compiled: The state's workload.
        layout: The tables as they were loaded, before the state's changes.
    """

    target: EngineTarget
    compiled: Compiled
    layout: tuple[TableLayout, ...]


@contextmanager
def make_copy(state: StateSetup, counter: WorkCounter) -> Iterator[Copy]:
    """Create a copy in a state; drop it at the end of the `with`.

    Raises:
        PlimsollError: The server refuses, the state's program fails, or the copy cannot be dropped.
    """
    name = f"plimsoll_gate_{secrets.token_hex(4)}"
    created, problem = False, ""
    try:
        with hold_interrupts():
            counter.create_copy(name)
            created = True
        yield _fill_copy(state, counter, name)
    except PlimsollError as error:
        problem = f"{error}; "
        raise
    finally:
        if created:
            try:
                with hold_interrupts():
                    counter.drop_copy(name)
            except PlimsollError as error:
                left = f"the database {name} may be left on the server"
                raise PlimsollError(f"{problem}{left}: {error}") from None


def _fill_copy(state: StateSetup, counter: WorkCounter, name: str) -> Copy:
    target = state.target.model_copy(update={"database": name})
    compiled = state.compile()
    # One connection inserts in one order, so that all copies have one layout.
    prepared = prepare_dataset(target, compiled, connections=1)
    with find_family(target.protocol).open_datasets(target) as datasets:
        layout = tuple(datasets.layout(compiled, prepared.counted_rows))
    try:
        committed = counter.execute_in(target, state.statements)
    except PlimsollError as error:
        raise PlimsollError(f"--{state.name}: {error}") from None
    if not committed:
        raise PlimsollError(
            f"--{state.name}: the statements leave a transaction open, whose changes would be lost:"
            " add COMMIT"
        )
    if state.program:
        run_program(state.program, name_copy(state.dsn, state.target, name), state.name)
    counter.refresh_statistics(target)
    return Copy(target, compiled, layout)


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Let Ctrl-C and terminations wait until the end of the `with`; a second one does not wait.

    Interrupted half way, a database would be left, or made after it was dropped.

    Raises:
        KeyboardInterrupt: One came meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    held = False

    def hold(_number: int, _frame: FrameType | None) -> None:
        nonlocal held
        if held:
            raise KeyboardInterrupt
        held = True

    handlers = {number: signal.signal(number, hold) for number in _INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if held:
        raise KeyboardInterrupt


def name_copy(dsn: str, target: EngineTarget, database: str) -> str:
    """Return the data source name of a copy, with the password."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    account = f"{quote(target.user, safe='')}:{quote(target.password, safe='')}"
    return parts._replace(netloc=f"{account}@{host}", path=f"/{database}").geturl()


def run_program(program: tuple[str, ...], dsn: str, state: str) -> None:
    """Run a program without a shell, with the copy's DSN in `PLIMSOLL_DSN`.

    Raises:
        PlimsollError: It cannot be started, fails, or takes longer than `PROGRAM_MAX_S`.
    """
    named = f"--{state}-cmd {program[0]}"
    try:
        running = subprocess.Popen(
            program,
            env={**os.environ, "PLIMSOLL_DSN": dsn},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise PlimsollError(f"{named}: cannot be started: {error.strerror}") from None
    with running:
        try:
            _, told = running.communicate(timeout=PROGRAM_MAX_S)
        except subprocess.TimeoutExpired:
            raise PlimsollError(f"{named}: took longer than {PROGRAM_MAX_S:g} s") from None
        finally:
            # with all that it started, also when Ctrl-C ends the gate
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    if running.returncode:
        said = _mask_login(told.decode(errors="replace"), dsn).strip().splitlines()
        last = shorten_message(said[-1]) if said else "it said nothing"
        raise PlimsollError(f"{named}: ended with code {running.returncode}: {last}")


def _mask_login(text: str, dsn: str) -> str:
    """Return a text without a data source name and its password, encoded or not."""
    text = text.replace(dsn, "(the DSN)")
    password = urlsplit(dsn).password
    for secret in {password, unquote(password)} if password else ():
        text = text.replace(secret, "(the password)")
    return text

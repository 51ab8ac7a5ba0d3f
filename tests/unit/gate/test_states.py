"""What makes a state: the copy's DSN, and a program that is run without a shell."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.gate import states
from plimsoll.gate.states import StateSetup, hold_interrupts, make_copy, name_copy, run_program
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

DSN = "mysql://bench@db.example:3307/shop?tls=require"
PRINTS = "import os, sys; open(sys.argv[1], 'w').write(os.environ['PLIMSOLL_DSN'])"


def test_a_copy_has_the_servers_address_and_the_password() -> None:
    target = parse_dsn(DSN, password="p@ss/1")
    named = name_copy(DSN, target, "plimsoll_gate_1")
    assert named == "mysql://bench:p%40ss%2F1@db.example:3307/plimsoll_gate_1?tls=require"
    assert parse_dsn(named) == target.model_copy(update={"database": "plimsoll_gate_1"})


def test_a_program_gets_the_dsn_and_no_shell(tmp_path: Path) -> None:
    file = tmp_path / "$(false); told"
    run_program((sys.executable, "-c", PRINTS, str(file)), DSN, "after")
    assert file.read_text() == DSN


def test_a_program_that_fails_is_named_with_its_last_line_and_without_the_dsn() -> None:
    program = (sys.executable, "-c", f"import sys; sys.exit('first\\nno table at {DSN}')")
    with pytest.raises(PlimsollError) as failed:
        run_program(program, DSN, "after")
    assert str(failed.value).endswith("ended with code 1: no table at (the DSN)")
    assert str(failed.value).startswith("--after-cmd ")


def test_no_password_of_the_dsn_is_told() -> None:
    dsn = "mysql://bench:p%40ss@db.example/shop"
    told = f"{dsn} with p%40ss as p@ss"
    program = (sys.executable, "-c", f"import sys; sys.exit({told!r})")
    with pytest.raises(PlimsollError) as failed:
        run_program(program, dsn, "after")
    assert str(failed.value).endswith("(the DSN) with (the password) as (the password)")


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    leaves = f"sleep 1000 >/dev/null 2>&1 & echo $! > {started}"
    run_program(("sh", "-c", leaves), DSN, "after")
    pid = int(started.read_text())
    while has_not_ended(pid):
        pass


def has_not_ended(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_program_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "PROGRAM_MAX_S", 0.0)
    with pytest.raises(PlimsollError, match="--after-cmd sleep: took longer than 0 s"):
        run_program(("sleep", "1000"), DSN, "after")


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(PlimsollError, match="--before-cmd /nowhere: cannot be started"):
        run_program(("/nowhere",), DSN, "before")


class Databases:
    """A counter that creates and drops databases, and is interrupted or lost as it does so."""

    def __init__(self, *, create: BaseException | None = None, drop: Exception | None = None):
        self._create, self._drop = create, drop
        self.existing: list[str] = []

    def create_copy(self, database: str) -> None:
        if isinstance(self._create, PlimsollError):
            raise self._create
        if self._create is not None:
            signal.raise_signal(signal.SIGINT)
        self.existing.append(database)

    def drop_copy(self, database: str) -> None:
        if self._drop is not None:
            raise self._drop
        self.existing.remove(database)


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> StateSetup:
    """A state whose copy cannot be filled: its server is gone."""

    def lose(*_: object) -> None:
        raise PlimsollError("the connection was lost")

    monkeypatch.setattr(states, "_fill_copy", lose)
    return StateSetup("after", DSN, parse_dsn(DSN), load_workload("ycsb-b"), {})


def make(state: StateSetup, databases: Databases) -> None:
    with make_copy(state, databases):  # type: ignore[arg-type]  # it is asked for nothing else
        pass


def test_a_copy_is_dropped_after_an_error(state: StateSetup) -> None:
    databases = Databases()
    with pytest.raises(PlimsollError, match=r"^the connection was lost$"):
        make(state, databases)
    assert databases.existing == []


def test_a_copy_that_cannot_be_dropped_is_named_after_what_failed_before(state: StateSetup) -> None:
    databases = Databases(drop=PlimsollError("nobody answers"))
    with pytest.raises(PlimsollError) as failed:
        make(state, databases)
    (name,) = databases.existing
    assert str(failed.value) == (
        f"the connection was lost; the database {name} may be left on the server: nobody answers"
    )


def test_a_copy_that_was_refused_is_not_dropped(state: StateSetup) -> None:
    refused = PlimsollError("permission denied to create database")
    with pytest.raises(PlimsollError, match=r"^permission denied to create database$"):
        make(state, Databases(create=refused, drop=PlimsollError("permission denied")))


def test_an_interrupt_while_a_copy_is_made_drops_it(state: StateSetup) -> None:
    databases = Databases(create=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        make(state, databases)
    assert databases.existing == []


@pytest.fixture
def unchanged_handlers() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    assert [signal.getsignal(number) for number in numbers] == before


def work_through(*interrupts: signal.Signals) -> Iterator[str]:
    """Tell each interrupt that came and was held, as it came."""
    with hold_interrupts():
        for number in interrupts:
            signal.raise_signal(number)
            yield number.name


@pytest.mark.usefixtures("unchanged_handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_waits_for_what_must_not_stop_half_way(number: signal.Signals) -> None:
    work = work_through(number)
    assert next(work) == number.name
    with pytest.raises(KeyboardInterrupt):
        next(work)


@pytest.mark.usefixtures("unchanged_handlers")
def test_a_second_interrupt_does_not_wait() -> None:
    work = work_through(signal.SIGINT, signal.SIGTERM)
    assert next(work) == "SIGINT"
    with pytest.raises(KeyboardInterrupt):
        next(work)


def test_other_threads_hold_nothing() -> None:
    ended = []

    def work() -> None:
        with hold_interrupts():
            ended.append("all of it")

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert ended == ["all of it"]

"""What makes a state: the copy's DSN, and a program that is run without a shell."""

import sys
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.gate import states
from plimsoll.gate.states import name_copy, run_program
from plimsoll.model.request.dsn import parse_dsn

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

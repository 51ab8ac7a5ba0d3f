"""`plimsoll workload list`, `show` and `plimsoll doctor`, as a user calls them."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll import packaged
from plimsoll.cli import doctor
from plimsoll.cli.workload import command, old_command
from plimsoll.local.databases import postgres_program
from plimsoll.local.databases.server_programs import list_server_programs
from plimsoll.workload import list_builtin_names


def test_every_workload_is_listed() -> None:
    output = CliRunner().invoke(command, ["list"]).output
    assert [line.split()[0] for line in output.splitlines()[1:]] == list_builtin_names()
    listed = json.loads(CliRunner().invoke(command, ["list", "--json"]).output)
    assert [workload["name"] for workload in listed] == list_builtin_names()


def test_one_is_shown_with_its_text_its_parameters_and_its_tables() -> None:
    output = CliRunner().invoke(command, ["show", "sysbench-oltp-read-only"]).output
    assert "SELECT c FROM {sbtest} WHERE id=?" in output
    assert "range_size = 100" in output
    assert "CREATE TABLE IF NOT EXISTS `sbtest1`" in output


def test_one_is_shown_resolved_as_json() -> None:
    output = CliRunner().invoke(command, ["show", "ycsb-a", "--json"]).output
    shown = json.loads(output)
    assert [operation["name"] for operation in shown["operations"]] == ["read", "update"]


def test_a_file_is_shown_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "about: mine\ndataset: ycsb\n"
        "operations: {one: {weight: 1, statements: [{sql: SELECT 1}]}}\n"
    )
    assert "SELECT 1" in CliRunner().invoke(command, ["show", str(path)]).output


def test_a_pgbench_script_is_shown_with_the_variables_that_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "mine.sql"
    path.write_text("\\set a random(1, :scale)\nSELECT :a;\n")
    shown = CliRunner().invoke(command, ["show", str(path)]).output
    assert shown == (
        "\\set a random(1, :scale)\nSELECT :a;\n\n"
        "-- variables that it does not set (-D NAME=VALUE): scale\n"
    )
    resolved = json.loads(CliRunner().invoke(command, ["show", str(path), "--json"]).output)
    assert [operation["name"] for operation in resolved["operations"]] == ["mine"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((), ("list",)),
        (("--json",), ("list", "--json")),
        (("show", "ycsb-a"), ("show", "ycsb-a")),
    ],
)
def test_the_old_names_work_and_say_the_new_ones(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    ran, meant = CliRunner().invoke(old_command, old), CliRunner().invoke(command, new)
    assert ran.stdout == meant.stdout
    assert f"is now plimsoll workload {new[0]};" in ran.stderr
    assert meant.stderr == ""


@pytest.mark.parametrize(("state", "code"), [("ok", 0), ("optional", 0), ("missing", 1)])
def test_doctor_fails_if_something_needed_is_missing(
    monkeypatch: pytest.MonkeyPatch, state: str, code: int
) -> None:
    finding = doctor.Finding("thing", state, "what it is", "make thing")
    monkeypatch.setattr(doctor, "CHECKS", (lambda: finding,))
    result = CliRunner().invoke(doctor.command, [], standalone_mode=False)
    assert result.return_value == code
    assert "make thing" in result.output


def test_doctor_says_how_to_get_a_server_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PLIMSOLL_MARIADBD", raising=False)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    result = CliRunner().invoke(doctor.command, ["--json"], standalone_mode=False)
    findings = {finding["what"]: finding for finding in json.loads(result.output)}
    assert findings["MariaDB server"]["state"] == "missing"
    assert "apt-get install" in findings["MariaDB server"]["command"]
    assert result.return_value == 1


def test_the_doctor_of_a_wheel_speaks_of_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "is_installed_wheel", lambda: True)
    monkeypatch.setattr(packaged, "is_installed_wheel", lambda: True)
    monkeypatch.setattr(doctor, "_can_import", lambda _: False)
    monkeypatch.setitem(sys.modules, "plimsoll_engine", None)
    monkeypatch.setattr(doctor, "CHECKS", (doctor._find_engine, doctor._find_twin))
    findings = {finding.what: finding for finding in doctor.list_findings()}
    assert "Rust" not in findings
    assert [findings[name].state for name in ("load engine", "local twin")] == [
        "missing",
        "optional",
    ]
    for finding in findings.values():
        assert "make setup" not in (finding.command or "")
    assert "wheel" in (findings["load engine"].command or "")
    assert "[local]'" in (findings["local twin"].command or "")


def test_the_doctor_of_a_wheel_misses_no_server_that_find_does_not_need(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path))
    monkeypatch.delenv("PLIMSOLL_POSTGRES", raising=False)
    monkeypatch.setattr(postgres_program, "_INSTALLED", tmp_path)
    monkeypatch.setattr(doctor, "is_installed_wheel", lambda: True)
    (program,) = list_server_programs("postgres")
    found = doctor._find_server_program(program)
    assert (found.state, found.detail) == ("optional", doctor.NEEDED_FOR_RUNS)
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/mvn")
    assert (doctor._find_server_program(program).command or "").startswith("the first run fetches")
    monkeypatch.setattr(doctor, "is_installed_wheel", lambda: False)
    assert doctor._find_server_program(program).state == "missing"

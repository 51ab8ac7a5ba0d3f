"""Where users may make no namespaces, root may; where nobody may, one sentence says what to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import MissingToolError
from tests.faults.namespaces import WAYS, Way, way


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """Look again, and let the next test look again."""
    way.cache_clear()
    yield
    way.cache_clear()


def system(folder: Path, monkeypatch: pytest.MonkeyPatch, unshare: str) -> None:
    """Have an `unshare` of our own, and no other program."""
    (folder / "unshare").write_text(f"#!/bin/sh\n{unshare}\n")
    (folder / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("unshare", "first"),
    [("exit 0", WAYS[0]), ('[ "$1" = --mount ]', WAYS[1])],
    ids=["any user", "root alone"],
)
def test_the_first_way_that_works_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unshare: str, first: Way
) -> None:
    system(tmp_path, monkeypatch, unshare)
    assert way() == first


@pytest.mark.parametrize("program", ["exit 1", None], ids=["not allowed", "no such program"])
def test_without_one_it_is_said_what_to_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None
) -> None:
    system(tmp_path, monkeypatch, program or "")
    if program is None:
        (tmp_path / "unshare").unlink()
    with pytest.raises(MissingToolError, match=r"^a run that faults .*max_user_namespaces.*root"):
        way()

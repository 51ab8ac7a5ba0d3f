"""A twin's databases lie in memory where they surely fit, and nowhere for longer than the twin."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local import home
from plimsoll.local.home import Places, make_twin_home, takes_direct_io
from tests.unit.local.test_room import GIB, endpoint, request


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a folder for memory and one for its disk."""
    for name in ("memory", "disk"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(home, "MEMORY", tmp_path / "memory")
    monkeypatch.setattr(home, "takes_direct_io", lambda _: True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "disk"))
    return tmp_path


def free(monkeypatch: pytest.MonkeyPatch, gib: float) -> None:
    monkeypatch.setattr(home, "read_available_memory_bytes", lambda: int(gib * GIB))
    monkeypatch.setattr(home, "read_free_disk_bytes", lambda _: 99 * GIB)


def places_of(machine: Path, requests: dict[str, Any], parent: Path | None = None) -> list[str]:
    """Say where each database of a twin is put, all running at the same time."""
    with make_twin_home(parent=parent) as folder:
        places = Places(folder, requests.get)
        chosen = [places.choose(name).resolve() for name in requests]
        return [path.relative_to(machine).parts[0] for path in chosen]


@pytest.mark.parametrize(
    ("asked", "free_gib", "expected"),
    [
        ([("ycsb-a", 40_000)], 2.4, ["memory"]),  # 4 x 41 MB + 1 GiB in half of it
        ([("ycsb-a", 40_000)], 2.2, ["disk"]),
        ([("ycsb-a", 40_000)] * 2, 2.4, ["memory", "disk"]),  # the second at the same time
        ([("ycsb-a", 40_000)] * 2, 4.7, ["memory", "memory"]),
        ([("ycsb-a", 40_000), ("ycsb-d", 1)], 99.0, ["memory", "disk"]),  # who knows how many rows
        ([("ycsb-a", 10_000_000), ("ycsb-a", 10)], 16.0, ["disk", "memory"]),
    ],
)
def test_each_database_is_in_memory_where_it_fits_into_half_of_what_is_free(
    asked: list[tuple[str, int]],
    free_gib: float,
    expected: list[str],
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free(monkeypatch, free_gib)
    requests = {f"plimsoll-{n}": request(*one) for n, one in enumerate(asked)}
    assert places_of(machine, requests) == expected


def test_what_a_database_held_is_anothers_once_it_is_gone(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 2.4)
    with make_twin_home() as folder:
        places = Places(folder, lambda _: request("ycsb-a", 40_000))
        assert places.choose("a").resolve().is_relative_to(machine / "memory")
        assert places.choose("b").resolve().is_relative_to(machine / "disk")
        places.give_back("a")
        assert places.choose("c").resolve().is_relative_to(machine / "memory")


def test_all_are_on_disk_where_memory_takes_no_direct_io_or_a_folder_is_named(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 99)
    requests = {"plimsoll-a": request("ycsb-a", 10)}
    named = machine / "named"
    named.mkdir()
    assert places_of(machine, requests, parent=named) == ["named"]
    monkeypatch.setattr(home, "takes_direct_io", lambda _: False)  # an older kernel's tmpfs
    assert places_of(machine, requests) == ["disk"]


def test_what_is_not_known_is_on_disk(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free(monkeypatch, 99)
    assert places_of(machine, {"made-by-hand": None}) == ["disk"]
    assert places_of(machine, {"an-endpoint's": endpoint()}) == ["memory"]


def test_nothing_of_it_stays(machine: Path) -> None:
    def interrupted() -> None:
        with make_twin_home() as folder:
            (folder / "databases").mkdir()
            (folder / "memory" / "databases").mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [list((machine / name).iterdir()) for name in ("disk", "memory")] == [[], []]


def test_what_has_no_room_is_refused_before_anything_is_made(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 1)
    monkeypatch.setattr("plimsoll.local.room.read_free_disk_bytes", lambda _: GIB)
    with (
        pytest.raises(PlimsollError, match=r"disk: the rows of this request need .* are free"),
        make_twin_home([request("ycsb-a", 10_000_000)]),
    ):
        pytest.fail("it was made")  # pragma: no cover
    assert list((machine / "disk").iterdir()) == []


def test_a_service_refuses_what_has_no_room_when_it_comes(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 1)
    with make_twin_home() as folder:
        places = Places(folder, lambda _: request("ycsb-a", 10_000_000))
        monkeypatch.setattr("plimsoll.local.room.read_free_disk_bytes", lambda _: GIB)
        with pytest.raises(PlimsollError, match=f"{machine}/disk/.*/databases: the rows of"):
            places.choose("plimsoll-large")


def test_direct_io_is_tried_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuses(path: str, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuses)
    assert takes_direct_io(tmp_path) is False
    assert list(tmp_path.iterdir()) == []

"""Two loads at the same time: where each client and server has cores of its own, and to their end.

What this machine's two cores cannot show, a duet that scatters less than turns, is in no test.
"""

import os
import signal
import threading
from typing import Any, cast

import pytest

import plimsoll_engine
from plimsoll.errors import PlimsollError
from plimsoll.load_line.duet import (
    HERE,
    Meet,
    Place,
    divide_cores,
    explain_sharing,
    find_place,
    list_cores,
    run_together,
)
from plimsoll.load_line.load import Loaded
from plimsoll.model.request.dsn import parse_dsn

LOCAL, OTHER_LOCAL = Place(HERE, 3306), Place(HERE, 3307)
FAR, FARTHER = Place("192.0.2.1", 3306), Place("192.0.2.2", 3306)
POOLER = Place("192.0.2.3", 6432, hidden=True)
NO_PLACE = "two clients and {} on this machine need {} cores, and {} can be used"


@pytest.mark.parametrize(
    ("places", "cores", "shared"),
    [
        ((FAR, FARTHER), 2, None),
        ((FAR, FARTHER), 1, NO_PLACE.format("0 servers", 2, 1)),
        ((LOCAL, FAR), 3, None),
        ((FAR, LOCAL), 2, NO_PLACE.format("1 server", 3, 2)),
        ((LOCAL, OTHER_LOCAL), 4, None),
        ((LOCAL, OTHER_LOCAL), 3, NO_PLACE.format("2 servers", 4, 3)),
        ((LOCAL, LOCAL), 64, "both are one server"),
        ((FAR, FAR), 64, "both are one server"),
        ((FAR, Place("192.0.2.1", 3307)), 64, "both servers run on 192.0.2.1"),
        (
            (FAR, POOLER),
            64,
            "B is a pooler or part of a cluster, and servers behind it may be shared",
        ),
    ],
)
def test_what_two_loads_at_the_same_time_would_share(
    places: tuple[Place, Place], cores: int, shared: str | None
) -> None:
    assert explain_sharing(places, cores) == shared


@pytest.mark.parametrize(
    ("places", "processors"),
    [
        ((FAR, FARTHER), [{0, 4, 1, 5}, {2, 6, 3, 7}]),
        ((LOCAL, FAR), [{0, 4}, {1, 5}]),
        ((LOCAL, OTHER_LOCAL), [{0, 4}, {1, 5}]),
    ],
)
def test_clients_have_equal_shares_of_whole_cores(
    places: tuple[Place, Place], processors: list[set[int]]
) -> None:
    cores = [frozenset({first, first + 4}) for first in range(4)]  # two threads each
    assert [set(client) for client in divide_cores(cores, places)] == processors


def test_the_cores_hold_what_this_process_may_use() -> None:
    assert frozenset().union(*list_cores()) == os.sched_getaffinity(0)


def test_a_server_is_placed_by_its_address() -> None:
    assert find_place(parse_dsn("mysql://u@localhost:3307/d"), pooled=False) == OTHER_LOCAL
    assert find_place(parse_dsn("mysql://u@192.0.2.1/d"), pooled=False) == FAR
    assert find_place(parse_dsn("cassandra://192.0.2.1/d"), pooled=False).hidden


# The two loads of a pair; both clients have the same processors here.


def everywhere() -> tuple[frozenset[int], frozenset[int]]:
    return frozenset(os.sched_getaffinity(0)), frozenset(os.sched_getaffinity(0))


def loaded(told: Any) -> Loaded:
    return cast("Loaded", told)


def test_both_loads_begin_at_one_moment_and_each_on_its_own_processors() -> None:
    processors = sorted(os.sched_getaffinity(0))
    first, second = frozenset({processors[0]}), frozenset({processors[-1]})

    def load(number: int, meet: Meet, _: plimsoll_engine.CancelToken) -> Loaded:
        return loaded((number, meet(), os.sched_getaffinity(0)))

    (a, begins_a, on_a), (b, begins_b, on_b) = cast(
        "Any", run_together(load, (first, second), connections=1)
    )
    assert (a, b, begins_a) == (0, 1, begins_b)
    assert (on_a, on_b) == (first, second)
    assert os.sched_getaffinity(0) == set(processors)  # the caller's own are unchanged


def test_a_load_that_fails_before_both_begin_ends_the_other_and_is_told() -> None:
    def load(number: int, meet: Meet, _: plimsoll_engine.CancelToken) -> Loaded:
        if number == 1:
            raise PlimsollError("B: there are no rows")
        return loaded(meet())

    with pytest.raises(PlimsollError, match=r"^B: there are no rows$"):
        run_together(load, everywhere(), connections=1)


class Token:
    """A token whose end a test can wait for."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def cancel(self) -> None:
        self.ended.set()


def test_a_signal_ends_both_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plimsoll_engine, "CancelToken", Token)
    begun = threading.Barrier(2, lambda: os.kill(os.getpid(), signal.SIGTERM))

    def load(_: int, meet: Meet, token: plimsoll_engine.CancelToken) -> Loaded:
        meet()
        begun.wait()
        return loaded(cast("Token", token).ended.wait(60))

    ended: Any = run_together(load, everywhere(), connections=1)
    assert ended == (True, True)  # neither load waited in vain

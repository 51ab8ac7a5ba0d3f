"""The check of what is true of a workload's rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.databases import conditions
from plimsoll.databases.conditions import audit_conditions, check_conditions, is_audited
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

TARGET = parse_dsn("mysql://u:p@127.0.0.1:1/d")
TPCC = load_workload("tpcc").compile(1)


class Clock:
    """A clock on which each query takes a minute."""

    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


class Rows:
    """A database in which W_YTD of one warehouse is wrong, and that cannot read history."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.limits: list[float | None] = []

    def read_number(self, query: str, longest_s: float | None = None) -> int:
        self.limits.append(longest_s)
        self.clock.now_s += 60
        if longest_s is not None and longest_s < 60:
            raise PlimsollError("the query was ended")
        if "FROM history" in query.replace("`", ""):
            raise PlimsollError("the user may not read history")
        return 1 if "w_ytd" in query else 0

    def cut_off(self) -> None: ...

    @contextmanager
    def connect(self, _: EngineTarget) -> Iterator["Rows"]:
        yield self


def test_each_condition_has_its_number_of_breaches_or_why_there_is_none() -> None:
    rows = Rows()
    found = {one.name: one for one in check_conditions(TARGET, TPCC, rows.connect)}
    assert list(found) == [f"c{n}" for n in range(1, 13)]
    assert {name for name, one in found.items() if one.breaches} == {"c1"}
    assert {name for name, one in found.items() if one.breaches is None} == {"c8", "c9", "c10"}
    assert found["c8"].unknown == "the user may not read history"
    assert found["c2"].unknown is None
    assert set(rows.limits) == {None}


def test_the_time_is_that_of_all_conditions_together(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(conditions, "time", clock)
    rows = Rows(clock)
    found = audit_conditions(TARGET, TPCC, rows.connect, longest_s=150)
    assert rows.limits == [150, 90, 30]  # the third is ended, and no other begins
    assert [one.breaches for one in found] == [1, 0, *[None] * 10]
    assert {one.unknown for one in found[2:]} == {"not done when 2 min 30 s had passed"}


def test_after_a_load_a_server_that_does_not_answer_leaves_all_unknown() -> None:
    @contextmanager
    def connect(_: EngineTarget) -> Iterator[Rows]:
        raise PlimsollError("cannot connect to 127.0.0.1:1")
        yield Rows()

    found = audit_conditions(TARGET, TPCC, connect)
    assert {(one.breaches, one.unknown) for one in found} == {
        (None, "cannot connect to 127.0.0.1:1")
    }


def test_a_workload_without_conditions_is_refused() -> None:
    with pytest.raises(UsageError, match="ycsb-a has no conditions to check"):
        check_conditions(TARGET, load_workload("ycsb-a").compile(1), Rows().connect)


def test_the_audit_is_skipped_where_it_is_off_or_there_is_nothing_to_check() -> None:
    assert is_audited(TPCC, Rules())
    assert not is_audited(TPCC, Rules(audits_off=frozenset({"conditions"})))
    assert not is_audited(load_workload("ycsb-a").compile(1), Rules())

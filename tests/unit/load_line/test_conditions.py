"""The check of what is true of a workload's rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.errors import UsageError
from plimsoll.load_line.conditions import check_conditions
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

TARGET = parse_dsn("mysql://u:p@127.0.0.1:1/d")


class Rows:
    """A database in which W_YTD of one warehouse is wrong."""

    def read_number(self, query: str) -> int:
        return 1 if "w_ytd" in query else 0


@contextmanager
def connect(_: EngineTarget) -> Iterator[Rows]:
    yield Rows()


def test_each_condition_has_its_number_of_breaches() -> None:
    found = check_conditions(TARGET, load_workload("tpcc").compile(1), connect)
    assert list(found) == [f"c{n}" for n in range(1, 13)]
    assert {name for name, breaches in found.items() if breaches} == {"c1", "c8"}


def test_a_workload_without_conditions_is_refused() -> None:
    with pytest.raises(UsageError, match="ycsb-a has no conditions to check"):
        check_conditions(TARGET, load_workload("ycsb-a").compile(1), connect)

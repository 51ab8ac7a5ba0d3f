"""Each statistics view of PostgreSQL is asked for alone, and only where the version has it."""

from collections.abc import Callable

import pytest

from plimsoll.databases.postgres import counters
from plimsoll.errors import PlimsollError

VIEWS = ("pg_stat_database", "pg_stat_wal", "pg_stat_io", "pg_stat_bgwriter", "pg_stat_statements")


class FakeConnection:
    """Answers each query with one value, named after the views that it reads."""

    columns: list[dict[str, str]]

    def __init__(self, version: int, hidden: tuple[str, ...] = ()) -> None:
        self.version, self.hidden = version, hidden
        self.asked: list[str] = []

    def execute(self, sql: str) -> tuple[tuple[object, ...], ...]:
        if "server_version_num" in sql and "AS" not in sql:
            return ((self.version,),)
        self.asked.append(sql)
        for view in self.hidden:
            if view in sql:
                raise PlimsollError(f"permission denied for view {view}")
        name = next((view for view in VIEWS if view in sql), "gauges")
        self.columns = [{"name": name}]
        return ((1,),)


@pytest.fixture
def values_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, int]]:
    def read(connection: FakeConnection) -> dict[str, int]:
        monkeypatch.setattr(counters, "execute", lambda made, sql: made.execute(sql))
        return counters._read_values(connection)  # type: ignore[arg-type]  # answers the same

    return read


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_is_not_shown_loses_no_other_counter(
    view: str, values_of: Callable[..., dict[str, int]]
) -> None:
    all_shown = values_of(FakeConnection(160_010))
    found = values_of(FakeConnection(160_010, hidden=(view,)))
    assert found == {name: 1 for name in all_shown if name != view}


def test_a_connection_that_is_lost_is_no_empty_reading(
    values_of: Callable[..., dict[str, int]],
) -> None:
    with pytest.raises(PlimsollError):
        values_of(FakeConnection(160_010, hidden=("",)))


@pytest.mark.parametrize(
    ("version", "lacks"),
    [
        (130_023, {"pg_stat_wal", "pg_stat_io", "toplevel", "pg_stat_statements_info"}),
        (140_020, {"pg_stat_io"}),
        (150_018, {"pg_stat_io"}),
        (160_010, set()),
        (180_006, set()),
    ],
)
def test_a_version_is_asked_for_what_it_has(
    version: int, lacks: set[str], values_of: Callable[..., dict[str, int]]
) -> None:
    connection = FakeConnection(version)
    values_of(connection)
    asked = "\n".join(connection.asked)
    every = {"pg_stat_wal", "pg_stat_io", "toplevel", "pg_stat_statements_info"}
    assert {name for name in every if name not in asked} == lacks


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (
            130_023,
            "PostgreSQL 13 does not count page writes by sessions and by autovacuum, nor wri",
        ),
        (150_018, "PostgreSQL 15 does not count page writes by sessions and by autovacuum: not kn"),
    ],
)
def test_what_an_old_version_does_not_count_is_said(version: int, told: str) -> None:
    (sentence,) = counters.describe_uncounted(version)
    assert sentence.startswith(told)
    assert counters.describe_uncounted(160_010) == counters.describe_uncounted(None) == []

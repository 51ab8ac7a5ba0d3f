"""A step whose writes were not committed is never believed."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.steps.audits import audit_writes
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step


def step(commits: int | None = None, written: int | None = None, seen: int | None = None) -> Step:
    return Step(
        clients=1,
        throughput_ops_per_second=1000.0,
        latency_us={"update": {"p99": 100.0}},
        writes=None if commits is None else 8_000,
        commits=commits,
        written_back=written,
        read_back=seen,
    )


@pytest.mark.parametrize(
    ("commits", "written", "seen", "passed"),
    [
        (8_000, None, None, True),
        (7_920, None, None, True),
        (7_919, None, None, False),
        (90_000, None, None, True),  # others commit, too
        (None, 8, 8, True),
        (None, 8, 1, True),  # others wrote the same rows
        (None, 8, 0, False),
        (90_000, 8, 0, False),  # MySQL counts the statements of what is never committed
        (12, 8, 8, False),
        (None, 0, 0, None),  # no write succeeded
        (None, None, None, None),
    ],
)
def test_commits_are_counted_and_rows_read_back(
    commits: int | None, written: int | None, seen: int | None, passed: bool | None
) -> None:
    assert audit_writes(step(commits, written, seen)).passed is passed


def test_what_was_counted_and_seen_is_told() -> None:
    assert audit_writes(step(12, 8, 0)).detail == (
        "writes are not committed: 8,000 writes succeeded, 12 commits were counted; of 8 rows"
        " written after the load, another session saw 0"
    )


def test_writes_that_are_committed_and_undone_are_told_apart() -> None:
    assert audit_writes(step(9_000, 8, 0)).detail == (
        "writes are not kept (not committed, or a trigger or rule undoes them): 8,000 writes"
        " succeeded, 9,000 commits were counted; of 8 rows written after the load, another session"
        " saw 0"
    )


def test_such_a_step_decides_nothing() -> None:
    capacity = judge([step(90_000, 8, 0)], Rules(confirmation=None))
    assert (capacity.verdict, capacity.cause) == ("INCONSISTENT", "audit:writes_kept")

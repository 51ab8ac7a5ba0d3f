"""What a statement that got no answer is taken for: a time-out, which passes, or a refusal."""

from collections.abc import Sequence
from typing import Any

import pytest
from cassandra import ConsistencyLevel, InvalidRequest, OperationTimedOut, ReadFailure, WriteTimeout

from plimsoll.databases.cassandra.session import TRIES, CassandraSession
from plimsoll.errors import CassandraTimeoutError, PlimsollError


class Answer:
    """An answer, or an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def result(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Answering(CassandraSession):
    """A session without a server: it has its answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def start(self, cql: str, values: Sequence[object] = ()) -> Any:  # noqa: ARG002 - it has its answers
        return Answer(self.answers.pop(0))


@pytest.mark.parametrize(
    ("error", "timed_out"),
    [
        (OperationTimedOut(), True),
        # how a node tells that its own read took longer than it may
        (ReadFailure("UNKNOWN", consistency=ConsistencyLevel.ONE, required_responses=1), True),
        (InvalidRequest("no keyspace has been specified"), False),
    ],
)
def test_a_read_that_a_node_gave_up_is_a_time_out(error: Exception, *, timed_out: bool) -> None:
    session = Answering()
    with pytest.raises(PlimsollError, match=r"the database says: .* to: SELECT 1") as raised:
        session.result(Answer(error), "SELECT 1")
    assert isinstance(raised.value, CassandraTimeoutError) is timed_out


PASSED = WriteTimeout("UNKNOWN", consistency=ConsistencyLevel.ONE, write_type=0)


def test_what_a_node_gave_up_that_stood_still_is_asked_again() -> None:
    assert Answering(PASSED, PASSED, [(1,)]).execute("SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([PASSED] * (TRIES + 1), TRIES),
        ([OperationTimedOut(), [(1,)]], 1),  # nobody answers: that took a minute
        ([InvalidRequest("no such table"), [(1,)]], 1),
    ],
)
def test_what_will_not_be_answered_is_not_asked_for_ever(answers: list[Any], asked: int) -> None:
    session = Answering(*answers)
    with pytest.raises(PlimsollError, match="the database says: "):
        session.execute("SELECT 1")
    assert len(answers) - len(session.answers) == asked

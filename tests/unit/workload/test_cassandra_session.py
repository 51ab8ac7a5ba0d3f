"""What a statement that got no answer is taken for: a time-out, or a refusal."""

from typing import Any

import pytest
from cassandra import ConsistencyLevel, InvalidRequest, OperationTimedOut, ReadFailure

from plimsoll.errors import PlimsollError
from plimsoll.workload.cassandra import Cassandra, CassandraTimeoutError


class Answer:
    """An answer that is an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def result(self) -> Any:
        raise self.error


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
    session = object.__new__(Cassandra)  # without a server
    with pytest.raises(PlimsollError, match=r"the database says: .* to: SELECT 1") as raised:
        session.result(Answer(error), "SELECT 1")
    assert isinstance(raised.value, CassandraTimeoutError) is timed_out

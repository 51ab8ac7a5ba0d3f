"""The same seed sends the same bytes."""

from plimsoll.model.engine.asked import EngineWorkload
from plimsoll.workload import load_workload
from tests.local.load.driving import drive, fake_target
from tests.support.fake_mysql_server import FakeMySqlServer


def sent(workload: EngineWorkload, seed: int) -> list[list[bytes]]:
    """Everything that each connection executed, in order, the connections in some order."""
    with FakeMySqlServer() as server:
        report = drive(
            fake_target(server.port),
            workload,
            connections=4,
            duration_s=120.0,
            operations_limit=400,
            seed=seed,
        )
        assert report.ended == "operations"
        assert sum(operation.succeeded for operation in report.operations.values()) == 400
        return sorted(session.executions for session in server.sessions)


def test_two_runs_send_byte_equal_statements_per_connection() -> None:
    for name in ("ycsb-a", "ycsb-d", "sysbench-oltp-read-write"):
        workload = load_workload(name).compile(1000).engine
        first = sent(workload, seed=7)
        assert [bool(executions) for executions in first] == [True] * 4
        assert first == sent(workload, seed=7), name
        assert first != sent(workload, seed=8), name


def test_connections_do_not_send_the_same() -> None:
    executions = sent(load_workload("ycsb-a").compile(1000).engine, seed=7)
    assert len({tuple(statements) for statements in executions}) == 4

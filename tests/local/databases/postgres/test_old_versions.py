"""PostgreSQL 13 to 15: prepared, loaded and counted, without what they cannot tell."""

import platform

import pytest

from plimsoll.databases import postgres
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.local.load.driving import drive
from tests.support.postgres_server import PostgresFactory

pytestmark = pytest.mark.whole

# For arm64 there is no artifact of 13 and 15.
OLD = (13, 14, 15) if platform.machine() == "x86_64" else (14,)


@pytest.mark.parametrize("as_on_rds", [False, True])
@pytest.mark.parametrize("major", OLD)
def test_an_old_version_is_prepared_loaded_and_counted(
    postgres_factory: PostgresFactory, major: int, as_on_rds: bool
) -> None:
    server = postgres_factory(major=major, as_on_rds=as_on_rds)
    target = parse_dsn(server.dsn)
    compiled = load_workload("ycsb-a").compile(2000, protocol="postgres")
    prepared = prepare_dataset(target, compiled, connections=2)
    assert prepared.counted_rows == {"usertable": 2000}
    assert postgres.settle(target, longest_s=60)
    before = postgres.read_counters(target)
    assert before is not None
    report = drive(target, compiled.engine, connections=2, duration_s=120.0, operations_limit=2000)
    sent = sum(operation.succeeded for operation in report.operations.values())
    assert sent == 2000
    after = postgres.read_counters(target)
    assert after is not None
    figures = postgres.server_figures(before, after, statements_by_clients=sent)
    assert figures.statements_by_server == pytest.approx(sent, rel=0.02)
    assert figures.counters["commits"] > 0
    assert ("wal_flushes" in figures.counters) == (major >= 14)
    assert "backend_writes" not in figures.counters
    told = [sign for sign in postgres.signs_of_limits(figures) if "does not count" in sign]
    assert len(told) == 1
    assert told[0].startswith(f"PostgreSQL {major} does not count page writes")

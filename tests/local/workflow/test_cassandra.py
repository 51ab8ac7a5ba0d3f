"""A run of Cassandra on one machine: to its end, with its own node killed, and nothing left."""

import pytest

from plimsoll.capacity.steps.audits import audit_escapes
from plimsoll.model.request.cassandra_target import VERSION
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, measured, tiny, why

CASSANDRA = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 2000},
}


@pytest.fixture(scope="module")
def finished(shared_bench: Bench) -> RunResult:
    request = tiny(
        "cassandra",
        target=CASSANDRA,
        workload={"name": "ycsb-read-50-update-50", "records": 300},
        search__connections_per_client=8,
        load__warmup_s=2,
        load__duration_s=4,  # on a busy machine a client may come a second late
    )
    _, result = shared_bench.succeed(shared_bench.start(request))
    return result


def test_it_ends_with_a_verdict_and_a_counted_dataset(finished: RunResult) -> None:
    assert finished.capacity is not None
    assert finished.rows == 300
    assert VERSION in str(finished.versions.server)
    assert set(measured(finished)[0].operations) == {"read", "update"}


def test_none_of_its_io_goes_past_its_volume(finished: RunResult) -> None:
    step = measured(finished)[0].step
    assert step.escaped_iops is not None
    assert audit_escapes(step).passed


def test_the_node_counted_what_the_clients_sent(finished: RunResult) -> None:
    server = measured(finished)[0].server
    assert server is not None
    assert server.statements_by_clients is not None
    assert server.statements_by_clients > 100
    assert server.statements_by_server == pytest.approx(server.statements_by_clients, rel=0.01)
    coordinated = server.counters["coordinator_reads"] + server.counters["coordinator_writes"]
    assert coordinated == pytest.approx(server.statements_by_clients, rel=0.01)


def test_the_volume_of_ebs_and_the_instances_processor_are_among_its_figures(
    finished: RunResult,
) -> None:
    seen = measured(finished)[0].target
    assert seen is not None
    assert seen.cpu_percent is not None
    assert seen.read_iops is not None
    assert seen.write_iops is not None
    assert finished.volume_limits is not None
    assert finished.volume_limits.baseline_iops == 2000


@pytest.mark.whole  # test_faults.py has it with MariaDB
def test_a_node_that_dies_in_a_step_fails_the_run_and_is_removed(bench: Bench) -> None:
    request = tiny(
        "killed",
        target=CASSANDRA,
        workload={"name": "ycsb-read-50-update-50", "records": 300},
        load__warmup_s=1,
        load__duration_s=6,  # longer than a machine stands still
    )
    run = bench.start(request, hold=["freeze-load-client-0"])
    client = bench.gate("freeze-load-client-0", run).await_frozen()
    bench.database(run).kill()
    client.resume()
    record, result = bench.end(run)  # sees that nothing is left
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == "step"
    assert record.deleted_at is not None

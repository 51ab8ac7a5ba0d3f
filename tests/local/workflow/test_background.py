"""Two workloads at once on one machine: both run, each is told apart, and their pairs too."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.aws.run_files import SECONDS, client_path, plan_path, unpack_file
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.run.results import RunResult, Seconds
from tests.local.workflow.conftest import Bench, measured, tiny

Finished = tuple[Path, RunResult]
BESIDE: list[dict[str, Any]] = [
    {"name": "scan", "workload": {"name": "batch-full-scan", "records": 2000}},
    {
        "name": "import",
        "workload": {"name": "batch-bulk-insert", "records": 2000},
        "clients": 2,
        "every_s": 2,
        "for_s": 1,
    },
    {"name": "commits", "workload": {"name": "log-flush", "records": 2000}, "at_s": 1, "for_s": 1},
]


@pytest.fixture(scope="module")
def finished(shared_bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    bench, folder = shared_bench, tmp_path_factory.mktemp("beside")
    request = tiny(
        "beside",
        background=BESIDE,
        background_pairs=1,
        load__duration_s=4,
        # too few operations would lengthen the next window, and with it what runs beside
        limits__audits_off=["enough_operations", "undisturbed"],
    )
    run = bench.start(request)
    _, result = bench.succeed(run)
    run.save(folder)
    return folder, result


def test_the_rows_of_all_datasets_are_there(finished: Finished) -> None:
    _, result = finished
    assert result.rows == 300 + 2000


def test_each_ran_in_its_time_and_is_told_apart(finished: Finished) -> None:
    folder, result = finished
    operations = [{"scan"}, {"bulk_insert"}, {"commit"}]
    for step in measured(result):
        if step.plan.purpose == "without_background":
            assert step.background == ()
            continue
        scan, imported, commits = step.background
        assert scan.ran_s == 4
        assert (
            imported.ran_s == 1.5
        )  # half a second of the first is warm-up; the third would be too short
        assert commits.ran_s == 1
        assert [set(one.operations) for one in step.background] == operations
        for one in step.background:
            assert one.clients_ran == one.clients
            assert (one.errors, one.failed) == (0, ())
            # 0 where the disk stood still for its second: what ran is counted, not how fast
            ended = sum(operation.succeeded for operation in one.operations.values())
            assert one.throughput_ops_per_second == pytest.approx(ended / one.ran_s)
        assert set(step.step.latency_us) == {"read", "update"}
        assert (step.fleet.planned, step.fleet.ran) == (1, 1)
    seconds = Seconds.model_validate_json((folder / SECONDS).read_bytes())
    assert {second.operation for second in seconds.operations} == {"read", "update"}
    assert set(seconds.background) == {"scan", "import", "commits"}


def test_the_servers_count_agrees_with_that_of_all_clients(finished: Finished) -> None:
    _, result = finished
    for step in measured(result):
        assert step.server is not None
        assert step.server.statements_by_clients == step.server.statements_by_server


def test_its_clients_wrote_files_of_their_own(finished: Finished) -> None:
    folder, result = finished
    index = measured(result)[0].plan.index  # on a busy machine not always the first
    plan = StepPlan.model_validate_json((folder / plan_path(index)).read_bytes())
    assert plan.clients_in_all == 1 + 1 + 2 + 1
    paths = [client_path(index, client) for client in range(5)]
    written = [unpack_file(path, (folder / path).read_bytes()) for path in paths]
    names = [ClientResult.model_validate_json(one).background for one in written]
    assert names == [None, "scan", "import", "import", "commits"]


def test_a_pair_says_what_they_take(finished: Finished) -> None:
    _, result = finished
    purposes = [step.plan.purpose for step in measured(result)]
    assert purposes[-2:] == ["with_background", "without_background"]
    assert result.capacity is not None
    assert result.capacity.closing is not None
    cost = result.capacity.closing.background
    assert cost is not None
    assert cost.names == ("scan", "import", "commits")
    assert cost.throughput.pairs == 1
    assert cost.throughput.ratio is not None


@pytest.mark.whole  # test_credits.py: a volume that is drained
def test_credits_at_the_start_are_those_of_the_first_measured_step(bench: Bench) -> None:
    volume = {"type": "gp2", "size_gib": 100, "credits_start": 0.25}
    _, result = bench.succeed(bench.start(tiny("a-quarter", target__volume=volume)))
    step = measured(result)[0]
    (use,) = [use for use in step.step.credits or () if use.bucket == "volume"]
    assert use.balance_percent == pytest.approx(25, abs=0.2)


def test_a_backup_reads_the_same_tables(bench: Bench) -> None:
    own = {"records": 1000, "parameters": {"tables": 2}}
    backup = {"name": "sysbench-full-scan", **own}
    request = tiny(
        "same-tables",
        workload={"name": "sysbench-oltp-point-select", **own},
        background=[{"name": "backup", "workload": backup, "tables": "same"}],
        background_pairs=0,
    )
    _, result = bench.succeed(bench.start(request))
    assert result.rows == 2 * 1000
    for step in measured(result):
        (beside,) = step.background
        assert beside.operations["scan"].records == 1000 * beside.operations["scan"].succeeded

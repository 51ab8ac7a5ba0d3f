"""Phases on a real database: every record of each pass, once, and the search after them."""

from typing import Any, get_args

import pytest

from plimsoll.aws.run_files import client_path, step_path
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.run.fleet import ClientResult
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, tiny


def phase(name: str, workload: str, records: int, **parameters: int) -> dict[str, object]:
    completion = {
        "records": records, "connections": [1, 3], "connections_per_client": 2, "repetitions": 2,
        "longest_s": 60,
    }  # fmt: skip
    asked = {"name": workload, "parameters": parameters}
    return {"name": name, "workload": asked, "to_completion": completion}


def test_a_run_does_its_phases_to_completion_before_its_search(shared_bench: Bench) -> None:
    request = tiny(
        "phases",
        workload={"name": "batch-3-charges", "records": 300},
        phases=[
            phase("load", "batch-1-bulk-insert", 400, rows_per_statement=10),
            phase("charge", "batch-3-charges", 100),
        ],
    )
    run = shared_bench.start(request)
    _, result = shared_bench.succeed(run)
    assert result.state is RunState.SUCCEEDED
    assert [one.name for one in result.phases] == ["load", "charge"]
    for number, done in enumerate(result.phases):
        one, three = done.loads
        first = 4 * number + 1
        assert (one.steps, three.steps) == ((first, first + 2), (first + 1, first + 3))
        assert (one.clients, three.clients) == (1, 2)
        for load in done.loads:
            assert (load.errors, load.unfinished) == (0, 0), done
            assert len(load.measured) == 2
            assert load.limit is not None
        assert "records/s with" in done.sentence
    records = [
        sum(
            totals.records for totals in run.files.get(step_path(n), StepResult).operations.values()
        )
        for n in range(1, 9)
    ]
    assert records == [400] * 4 + [100] * 4
    clients = [run.files.get(client_path(2, client), ClientResult).report for client in (0, 1)]
    assert [client.ended for client in clients] == ["operations"] * 2
    assert [client.operations_sent for client in clients] == [26, 14]  # by their connections
    indexes = [step.plan.index for step in result.steps]
    assert indexes == list(range(9, 9 + len(indexes)))
    assert result.capacity is not None
    assert {step.index for load in result.capacity.steps for step in load.steps} <= set(indexes)
    assert result.moments.deleted is not None


@pytest.mark.whole  # tests/aws/runs/test_phases.py plans one
def test_a_phase_with_a_search_has_an_answer_of_its_own(shared_bench: Bench) -> None:
    """Between two others, and beside a background, which is the run's own search's alone."""
    search = {"strategy": "steps", "clients": [1, 2], "open_loop_probe": False, "probes_max": 4}
    ask: dict[str, Any] = {
        "name": "ask",
        "workload": {"name": "batch-2-validation"},
        "search": search,
    }
    # a window is short, and a machine busy
    ask["limits"] = {"confirmation": None, "audits_off": sorted(get_args(AuditName))}
    job = {"records": 100, "connections": [2], "repetitions": 1}
    request = tiny(
        "searching",
        workload={"name": "batch-3-charges", "records": 300},
        phases=[ask, {"name": "charge", "to_completion": job}],
        background=[{"name": "beside", "workload": {"name": "ycsb-c", "records": 100}}],
        background_pairs=0,
    )
    run = shared_bench.start(request)
    _, result = shared_bench.succeed(run)
    asked, charged = result.phases
    assert asked.capacity is not None
    # its operations write: what a log lends is no figure
    figure = asked.capacity.max_sustainable_throughput_ops_per_second
    assert (figure is None) == (asked.capacity.verdict == "BURST")
    assert asked.steps[0] == 1
    assert asked.sentence.startswith(asked.capacity.summary)
    assert charged.workload == "batch-3-charges"
    assert charged.loads[0].steps == (5,)
    assert result.steps[0].plan.index == 6
    of_phases = [run.files.get(step_path(n), StepResult) for n in (*asked.steps, 5)]
    assert not any(step.background for step in of_phases)
    assert all(step.background for step in result.steps)
    assert set(of_phases[0].operations) == {"accept", "reject"}

"""What the workflow of an experiment calls, and what starts and stops it."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from plimsoll.aws import clients
from plimsoll.aws.run_records import now, records_of
from plimsoll.cli.experiment import ExperimentProgress
from plimsoll.errors import (
    ExperimentNotFoundError,
    LimitReachedError,
    NoRoomYetError,
    RunNotFoundError,
    RunStoppedError,
    UsageError,
)
from plimsoll.experiments.conclude_experiment import conclude_experiment
from plimsoll.experiments.lifecycle import get_experiment, stop_experiment, submit_experiment
from plimsoll.experiments.records import (
    RESULT,
    make_cell_run_id,
    open_experiment_files,
    open_experiments,
)
from plimsoll.experiments.workflow_states import plan_experiment, settle_cells, submit_cell
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.request.experiment import draw_order, shuffle_cells
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.run_record import RunFigures, RunState
from plimsoll.requests.cells import CheckedExperiment, validate_experiment
from plimsoll.statemachines import read_definition
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.room import Ask
from plimsoll.workflow.submit import start_execution
from tests.aws.workflow.conftest import REQUESTED
from tests.support.aws_resources import make_state_machine
from tests.support.every_setting import NO_LIMITS, EverySetting

ROLE = "arn:aws:iam::123456789012:role/states"
ASKED = {name: value for name, value in REQUESTED.items() if name != "name"}


def experiment(**changes: Any) -> CheckedExperiment:
    value = {
        "name": "matrix",
        "team": "dba",
        "request": ASKED,
        "axes": {"seed": {f"s{n}": {"load": {"seed": n}} for n in range(5)}},
        "at_once": 2,
        "batch_size": 2,
        "seed": 11,
    }
    return validate_experiment(value | changes)


def states(part: Any) -> Iterator[dict[str, Any]]:
    """Give every state of a definition, those within maps too."""
    for state in part.get("States", {}).values():
        yield state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])


@pytest.fixture
def machines(deployment: EverySetting) -> dict[str, str]:
    """State machines that are started and do nothing."""
    assert deployment
    return {name: make_state_machine(name) for name in ("run", "experiment")}


@pytest.fixture
def place(deployment: EverySetting, machines: dict[str, str]) -> EverySetting:
    assert deployment.run_machine_arn == machines["run"]
    teams = {name: Team.model_validate(NO_LIMITS) for name in ("dba", "others")}
    return deployment.model_copy(update={"teams": teams, "results_days": 3})


@pytest.fixture
def started(place: EverySetting) -> str:
    return submit_experiment(place, experiment())


def test_one_key_is_one_experiment(place: EverySetting, machines: dict[str, str]) -> None:
    def submit(asked: CheckedExperiment) -> str:
        return submit_experiment(place, asked, idempotency_key="monday")

    first = submit(experiment())
    assert submit(experiment()) == first
    with pytest.raises(UsageError, match="was used for another experiment"):
        submit(experiment(at_once=1))
    found = clients.stepfunctions().list_executions(stateMachineArn=machines["experiment"])
    assert [one["name"] for one in found["executions"]] == [first]


def test_a_seed_that_is_not_given_is_drawn_and_recorded(place: EverySetting) -> None:
    drawn = [submit_experiment(place, experiment(seed=None)) for _ in range(2)]
    seeds = [open_experiments(place).get("dba", one).seed for one in drawn]
    assert seeds[0] != seeds[1]
    assert (
        plan_experiment(place, drawn[0])["batches"] == plan_experiment(place, drawn[0])["batches"]
    )


def test_another_team_sees_nothing_of_it(place: EverySetting, started: str) -> None:
    with pytest.raises(ExperimentNotFoundError):
        get_experiment(place, "others", started)
    with pytest.raises(ExperimentNotFoundError):
        stop_experiment(place, "others", started)
    assert get_experiment(place, "dba", started).record.state is RunState.PENDING


def test_the_plan_is_the_seeds_order_in_batches(place: EverySetting, started: str) -> None:
    planned = plan_experiment(place, started)
    drawn = shuffle_cells(5, 11)
    assert planned == {
        "datasets": [],
        "batches": [list(drawn[:2]), list(drawn[2:4]), list(drawn[4:])],
        "at_once": 2,
        "seeks": False,
    }
    assert open_experiments(place).get("dba", started).state is RunState.RUNNING
    assert plan_experiment(place, started) == planned  # a repeated call changes nothing


def test_runs_on_fresh_targets_are_planned_in_rounds_and_each_is_recorded(
    place: EverySetting,
) -> None:
    asked = experiment(repeat={"fresh": 2}, batch_size=None)
    started = submit_experiment(place, asked)
    drawn = list(draw_order(asked.experiment, 11))
    assert plan_experiment(place, started)["batches"] == [drawn]
    assert [index % 2 for index in drawn] == [0] * 5 + [1] * 5
    assert open_experiments(place).get("dba", started).cells == 10
    run_id = submit_cell(place, started, 3)["run_id"]
    assert records_of(place).get(str(run_id)).name == "s1-r2"
    assert len(get_experiment(place, "dba", started).cells) == 10


def test_no_more_cells_go_at_once_than_the_team_may_have_runs(place: EverySetting) -> None:
    """So that none of them asks in vain, again and again, for what another of them holds."""
    asked = experiment(at_once=5)
    started = submit_experiment(place, asked)
    of_two = place.model_copy(update={"teams": {"dba": Team(concurrent_runs=2)}})
    assert plan_experiment(of_two, started)["at_once"] == 2
    of_nine = place.model_copy(update={"teams": {"dba": Team(concurrent_runs=9)}})
    assert plan_experiment(of_nine, started)["at_once"] == 5


def test_a_cell_that_waits_for_weeks_does_not_fill_the_history() -> None:
    """AWS ends an execution of 25,000 events; a call that fails and is repeated is three."""
    submits = [
        state for state in states(json.loads(read_definition("experiment"))) if "Retry" in state
        and "NoRoomYetError" in json.dumps(state["Retry"])
    ]  # fmt: skip
    assert len(submits) == 2  # of datasets, and of cells
    day_s, waiting = 86_400, 10
    for submit in submits:
        retry = submit["Retry"][0]
        events = 3 * waiting * 5 * day_s / retry["MaxDelaySeconds"]
        assert events < 25_000
        assert retry["MaxAttempts"] * retry["MaxDelaySeconds"] > 30 * day_s


def test_a_cell_does_not_wait_for_the_next_month(place: EverySetting, started: str) -> None:
    """Waiting asks every ten minutes, and would fill the workflow's history before the month."""
    team = Team(concurrent_runs=9, spend_usd_per_month=10.0)
    limited = place.model_copy(update={"teams": {"dba": team}})
    plan_experiment(limited, started)
    limits = find_team_limits(limited, "dba")
    assert limits is not None
    limits.acquire("before", Ask(clients=1, iops=0, usd_most=9.99), at=now())
    with pytest.raises(NoRoomYetError, match="spend_usd_per_month"):
        submit_cell(limited, started, 0)
    limits.release("before", usd=9.99)
    with pytest.raises(LimitReachedError, match=r"spend_usd_per_month.*only the next month"):
        submit_cell(limited, started, 0)


def test_a_cell_is_recorded_before_it_is_started(place: EverySetting, started: str) -> None:
    plan_experiment(place, started)
    answer = submit_cell(place, started, 3)
    cell = experiment().cells[3]
    assert answer == {"run_id": make_cell_run_id(started, cell)}
    record = place.records.get(make_cell_run_id(started, cell))
    assert (record.state, record.name, record.team) == (RunState.PENDING, "s3", "dba")
    assert record.forget_at_epoch_s is not None
    assert [c.state for c in get_experiment(place, "dba", started).cells] == [
        None, None, None, RunState.PENDING, None
    ]  # fmt: skip


def test_nothing_is_planned_or_submitted_once_it_is_being_stopped(
    place: EverySetting, started: str
) -> None:
    plan_experiment(place, started)
    stop_experiment(place, "dba", started)
    with pytest.raises(RunStoppedError, match="nothing new is made for it"):
        plan_experiment(place, started)
    with pytest.raises(RunStoppedError, match="nothing new is made for it"):
        submit_cell(place, started, 0)
    with pytest.raises(RunNotFoundError):
        place.records.get(make_cell_run_id(started, experiment().cells[0]))


def test_a_cell_recorded_while_the_stop_goes_through_is_closed(
    place: EverySetting, started: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop comes between the first look at the mark and the record of the run."""
    plan_experiment(place, started)
    real = clients.s3().put_object

    def stop_first(**arguments: Any) -> Any:
        settle_cells(place, started, stop=True)
        return real(**arguments)

    monkeypatch.setattr(clients.s3(), "put_object", stop_first)
    with pytest.raises(RunStoppedError):
        submit_cell(place, started, 0)
    run = place.records.get(make_cell_run_id(started, experiment().cells[0]))
    assert run.state is RunState.STOPPED


def test_cells_are_settled_when_each_has_ended_or_never_began(
    place: EverySetting, started: str, machines: dict[str, str]
) -> None:
    plan_experiment(place, started)
    running = str(submit_cell(place, started, 1)["run_id"])
    submit_cell(place, started, 2)  # its workflow is never started
    start_execution(machines["run"], running)
    place.records.change(running, state=RunState.RUNNING)
    assert settle_cells(place, started, stop=False) == {"settled": False, "wait_s": 1}
    states = [cell.state for cell in get_experiment(place, "dba", started).cells]
    assert states == [None, RunState.RUNNING, RunState.STOPPED, None, None]
    place.records.change(running, state=RunState.SUCCEEDED)
    assert settle_cells(place, started, stop=False)["settled"] is True


@pytest.mark.parametrize(
    ("bound", "told"), [("=", "1,386 ops/s"), (">=", "≥ 1,386 ops/s"), ("<", "< 1,386 ops/s")]
)
def test_a_cells_figure_is_told_with_its_bound(
    place: EverySetting, started: str, bound: Bound, told: str
) -> None:
    plan_experiment(place, started)
    first = str(submit_cell(place, started, 0)["run_id"])
    figures = RunFigures(axis="clients", curve=(), bound=bound)
    place.records.change(
        first,
        state=RunState.SUCCEEDED,
        verdict="KNEE",
        figures=figures,
        capacity_ops_per_second="1386.4",
    )
    now = get_experiment(place, "dba", started)
    assert [cell.bound for cell in now.cells[:2]] == [bound, None]
    lines = StringIO()
    ExperimentProgress(Console(file=lines, width=200)).show(now)
    assert f"{now.cells[0].name}: KNEE, {told}" in lines.getvalue()


def test_a_cell_whose_record_cannot_be_read_keeps_no_other_from_its_end(
    place: EverySetting, started: str, machines: dict[str, str]
) -> None:
    plan_experiment(place, started)
    bad, running = (str(submit_cell(place, started, index)["run_id"]) for index in (0, 1))
    start_execution(machines["run"], running)
    place.records.change(bad, state=RunState.RUNNING, colour="blue")
    place.records.change(running, state=RunState.RUNNING)
    cells = get_experiment(place, "dba", started).cells
    assert [(cell.state, cell.unreadable) for cell in cells[:3]] == [
        (None, True),
        (RunState.RUNNING, False),
        (None, False),
    ]
    assert settle_cells(place, started, stop=True)["settled"] is False
    assert place.records.get(running).state is RunState.STOPPING
    place.records.change(running, state=RunState.STOPPED)
    assert settle_cells(place, started, stop=True)["settled"] is True
    conclude_experiment(place, started)
    result = open_experiment_files(place, started).get(RESULT, ExperimentResult)
    assert "colour (extra_forbidden)" in (result.cells[0].no_answer or "")


def test_a_team_without_room_lets_a_cell_wait_and_refuses_what_never_fits(
    place: EverySetting, started: str
) -> None:
    held = place.model_copy(update={"teams": {"dba": Team(concurrent_runs=1, clients=100)}})
    plan_experiment(held, started)
    assert submit_cell(held, started, 0) == submit_cell(held, started, 0)  # a repeated call
    with pytest.raises(NoRoomYetError, match="concurrent_runs: 1 in use"):
        submit_cell(held, started, 1)
    small = place.model_copy(update={"teams": {"dba": Team(concurrent_runs=9, clients=1)}})
    with pytest.raises(LimitReachedError, match="clients: the run asks for 4, the limit is 1"):
        submit_cell(small, started, 2)
    machine = json.loads(read_definition("experiment"))
    assert '"NoRoomYetError"' in json.dumps(machine)  # the workflow waits by this name


def test_cells_that_take_turns_know_each_other_and_go_at_once(place: EverySetting) -> None:
    search = {"strategy": "steps", "clients": [1]}
    asked = experiment(
        request={**ASKED, "search": search},
        axes={"storage": {f"s{n}": {"target": {"volume": {"iops": 1000 + n}}} for n in range(5)}},
        pairs={"axis": "storage", "of": ["s1", "s3"]},
        at_once=1,
        batch_size=None,
    )
    started = submit_experiment(place, asked)
    planned = plan_experiment(place, started)
    batches = planned["batches"]
    assert isinstance(batches, list)
    assert sorted(map(sorted, batches)) == [[0], [1, 3], [2], [4]]
    assert planned["at_once"] == 2
    ids = [str(submit_cell(place, started, index)["run_id"]) for index in (1, 3, 0)]
    first, second, alone = (place.records.get(run_id).turn for run_id in ids)
    assert first is not None
    assert second is not None
    assert alone is None
    assert (first.beside, first.second) == (ids[1], False)
    assert (second.beside, second.second) == (ids[0], True)
    assert first.slot_s == second.slot_s
    alone_in_team = place.model_copy(update={"teams": {"dba": Team(concurrent_runs=1)}})
    with pytest.raises(UsageError, match="pairs: two runs go at once, and the team may have 1"):
        submit_experiment(alone_in_team, asked)


def test_a_refused_cell_is_told_with_its_reason(place: EverySetting, started: str) -> None:
    plan_experiment(place, started)
    refused = [{"cell": 2, "error": "LimitReachedError", "cause": "the team has no room"}]
    conclude_experiment(place, started, refused=refused)
    result = json.loads(clients.s3().get_object(
        Bucket="results", Key=f"experiments/{started}/result.json"
    )["Body"].read())  # fmt: skip
    assert result["cells"][2]["no_answer"] == "the team has no room"
    assert result["cells"][0]["no_answer"] == "it was not started"
    assert result["state"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("arguments", "state", "error"),
    [
        ({"ended": "ABORTED"}, RunState.STOPPED, "Stopped"),
        ({"ended": "TIMED_OUT"}, RunState.TIMED_OUT, "States.Timeout"),
        ({"failure": {"error": "E", "cause": "why"}}, RunState.FAILED, "E"),
        ({"failure": {"error": "RunStoppedError", "cause": "x"}}, RunState.STOPPED,
         "RunStoppedError"),
    ],
)  # fmt: skip
def test_it_ends_as_its_workflow_did_and_only_once(
    place: EverySetting, started: str, arguments: dict[str, Any], state: RunState, error: str
) -> None:
    told = conclude_experiment(place, started, **arguments)
    record = open_experiments(place).get("dba", started)
    assert record.state is state
    assert record.failure is not None
    assert told == {"failure": {"error": error, "cause": record.failure.cause}}
    conclude_experiment(place, started)
    assert open_experiments(place).get("dba", started) == record


def test_faults_on_purpose_are_for_one_machine(place: EverySetting) -> None:
    stall = {"step": 1, "volume": {"kind": "stall", "duration_s": 1}}
    asked = experiment(request={**ASKED, "faults": [stall]})
    with pytest.raises(UsageError, match="faults: only an experiment on one machine"):
        submit_experiment(place, asked)

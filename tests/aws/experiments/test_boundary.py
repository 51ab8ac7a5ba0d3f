"""A search for the boundary, as its workflow goes: choose, run, choose again, and what is said."""

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.aws.run_records import now
from plimsoll.errors import RunStoppedError
from plimsoll.experiments import conclude_experiment as module
from plimsoll.experiments.boundary import choose_cell
from plimsoll.experiments.conclude_experiment import conclude_experiment
from plimsoll.experiments.lifecycle import stop_experiment, submit_experiment
from plimsoll.experiments.records import RESULT, make_cell_run_id, open_experiment_files
from plimsoll.experiments.workflow_states import plan_experiment, submit_cell
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.report.experiment.page import render_experiment
from plimsoll.report.page import join_units
from plimsoll.requests.cells import validate_experiment
from tests.support.aws_resources import make_state_machine
from tests.support.every_setting import NO_LIMITS, EverySetting
from tests.support.synthetic_cells import boundary_experiment, synthetic_cell

IOPS = (1000, 2000, 3000, 4000, 5000)
Ran = Callable[[EverySetting, str, int], None]


@pytest.fixture
def place(deployment: EverySetting) -> EverySetting:
    for name in ("run", "experiment"):
        make_state_machine(name)
    teams = {"dba": Team.model_validate(NO_LIMITS)}
    return deployment.model_copy(update={"teams": teams})


EXPERIMENT = validate_experiment(boundary_experiment(*IOPS, want=30_000, team="dba"))
CELLS = EXPERIMENT.cells


def ran(place: EverySetting, experiment_id: str, cell: int) -> None:
    """Leave what a run leaves that has ended well."""
    run_id = make_cell_run_id(experiment_id, CELLS[cell])
    result = synthetic_cell(CELLS[cell], run_id).model_copy(update={"team": "dba"})
    place.records.change(run_id, state=RunState.SUCCEEDED, started_at=now(), ended_at=now())
    place.files(run_id).put("result.json", result.model_dump_json())


def failed(place: EverySetting, experiment_id: str, cell: int) -> None:
    """Leave what one leaves whose target was never there."""
    failure = Failure(phase="provision", error="E", cause="no such class in this zone")
    run_id = make_cell_run_id(experiment_id, CELLS[cell])
    place.records.change(run_id, state=RunState.FAILED, failure=failure, ended_at=now())


def sought(place: EverySetting, run: Ran = ran) -> tuple[str, list[int], list[dict[str, Any]]]:
    """Go the workflow's way: returns the experiment, the cells that were run, and those refused."""
    started = submit_experiment(place, EXPERIMENT)
    planned = plan_experiment(place, started)
    assert (planned["batches"], planned["seeks"]) == ([], True)
    made: list[int] = []
    refused: list[dict[str, Any]] = []
    while batches := choose_cell(place, started, refused)["batches"]:
        assert isinstance(batches, list)
        ((cell,),) = batches
        assert choose_cell(place, started, refused)["batches"] == batches  # a repeated call
        submit_cell(place, started, cell)
        run(place, started, cell)
        made.append(cell)
    return started, made, refused


def result_of(place: EverySetting, started: str) -> ExperimentResult:
    return open_experiment_files(place, started).get(RESULT, ExperimentResult)


def test_cells_beside_the_boundary_are_run_alone_and_the_answer_is_measured(
    place: EverySetting,
) -> None:
    started, made, _ = sought(place)
    conclude_experiment(place, started)
    result = result_of(place, started)
    assert result.boundary is not None
    assert (result.boundary.outcome, result.boundary.cell) == ("decided", "io1-4000")
    assert 2 <= len(made) <= 3
    assert result.order == tuple(CELLS[cell].name for cell in made)
    assert {cell.name for cell in result.boundary.cells if cell.status == "measured"} == set(
        result.order
    )
    assert result.answer == f"{result.boundary.sentence} {result.boundary.stopped}"
    assert (result.decisions, result.gains, result.warnings) == ((), (), ())
    page = render_experiment(result)
    assert join_units(result.answer) in page
    assert "~ is predicted, not measured" in page
    assert page.count('<th scope="row">predicted</th>') == len(IOPS) - len(made)


def test_a_cell_whose_run_fails_is_told_and_another_is_run(place: EverySetting) -> None:
    def run(place: EverySetting, experiment_id: str, cell: int) -> None:
        (failed if cell == 2 else ran)(place, experiment_id, cell)

    started, made, _ = sought(place, run)
    conclude_experiment(place, started)
    result = result_of(place, started)
    assert made[0] == 2  # the middle by price
    assert made.count(2) == 1
    assert result.boundary is not None
    told = {cell.name: cell for cell in result.boundary.cells}
    assert (told["io1-3000"].status, told["io1-3000"].why) == (
        "no answer", "no such class in this zone"
    )  # fmt: skip
    assert result.warnings == ("io1-3000: no such class in this zone",)
    # predicted from the others, it does not carry the load even at the high end: that decides it
    assert (result.boundary.outcome, result.boundary.cell) == ("decided", "io1-4000")


def test_two_that_leave_nothing_to_predict_from_end_it(place: EverySetting) -> None:
    started, made, _ = sought(place, failed)
    assert len(made) == 2
    conclude_experiment(place, started)
    boundary = result_of(place, started).boundary
    assert boundary is not None
    assert (boundary.outcome, boundary.cell, boundary.runs) == ("not decided", None, 2)


def test_a_cell_that_is_refused_is_not_chosen_again(place: EverySetting) -> None:
    started = submit_experiment(place, EXPERIMENT)
    plan_experiment(place, started)
    refused: list[dict[str, Any]] = []
    seen = []
    for _ in range(3):
        batches = choose_cell(place, started, refused)["batches"]
        assert isinstance(batches, list)
        if not batches:
            break
        seen.append(batches[0][0])
        refused.append({"cell": seen[-1], "error": "LimitReachedError", "cause": "no room, ever"})
    assert len(set(seen)) == len(seen) == 2
    conclude_experiment(place, started, refused=refused)
    boundary = result_of(place, started).boundary
    assert boundary is not None
    assert {cell.why for cell in boundary.cells if cell.status == "no answer"} == {"no room, ever"}


def test_nothing_is_chosen_once_it_is_being_stopped_and_what_was_measured_is_said(
    place: EverySetting,
) -> None:
    started = submit_experiment(place, EXPERIMENT)
    plan_experiment(place, started)
    submit_cell(place, started, 4)
    ran(place, started, 4)
    stop_experiment(place, "dba", started)
    with pytest.raises(RunStoppedError, match="nothing new is made for it"):
        choose_cell(place, started, [])
    conclude_experiment(place, started, ended="ABORTED")
    result = result_of(place, started)
    assert result.state is RunState.STOPPED
    assert result.boundary is not None
    assert (result.boundary.outcome, result.boundary.cell) == ("not decided", "io1-5000")


def test_one_whose_cells_cannot_be_compared_ends_all_the_same(
    place: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had no end, and whoever waited for it waited for ever."""
    started, made, _ = sought(place)

    def fail(*_: object) -> None:
        raise ValueError("0.3, 0.2 are not in order")

    monkeypatch.setattr(module, "find_boundary", fail)
    conclude_experiment(place, started)
    result = result_of(place, started)
    assert (result.state, result.boundary, result.decisions) == (RunState.FAILED, None, ())
    assert result.failure is not None
    assert result.failure.error == "ValueError"
    ran_cells = [cell.name for cell in result.cells if cell.state is RunState.SUCCEEDED]
    assert ran_cells == [CELLS[cell].name for cell in sorted(made)]
    render_experiment(result)

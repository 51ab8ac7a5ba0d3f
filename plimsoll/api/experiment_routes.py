"""Experiments: `POST /experiments`, `GET` and `DELETE /experiments/{experiment_id}`."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.api.context import IdempotencyKey, read_caller, read_settings
from plimsoll.api.started import (
    answer_start,
    answer_stop,
    assign_to_team,
    describe_start,
    describe_stop,
)
from plimsoll.experiments.lifecycle import (
    get_experiment,
    read_experiment_result,
    stop_experiment,
    submit_experiment,
)
from plimsoll.experiments.records import open_experiments
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.experiment_record import (
    ExperimentDetail,
    ExperimentRecord,
    Experiments,
    ExperimentSubmitted,
)
from plimsoll.model.service.answers import RUN_ID
from plimsoll.requests.cells import check_experiment

router = APIGatewayRouter()
ExperimentId = Annotated[
    str,
    Path(
        pattern=RUN_ID,
        max_length=60,
        description="Identifier of the experiment, from the response of `POST /experiments`.",
    ),
]


@router.post(
    "/experiments",
    summary="Start an experiment",
    description="Starts a matrix of runs: every combination of the variants of its axes, a limited"
    " number at the same time. All runs are checked before anything is created. Repeating a call"
    " with the same `Idempotency-Key` and experiment starts nothing new.",
    status_code=202,
    responses=describe_start("experiment", ExperimentSubmitted),
    operation_id="start_experiment",
    tags=["experiments"],
)
def start_experiment(
    experiment: Annotated[Experiment, Body(description="docs/experiments.md explains it.")],
    idempotency_key: IdempotencyKey = None,
) -> Response[ExperimentSubmitted]:
    """Start an experiment of the caller's team."""
    settings, caller = read_settings(router), read_caller(router)
    checked = check_experiment(assign_to_team(experiment, caller))
    own_id = submit_experiment(settings, checked, idempotency_key=idempotency_key)
    answer = ExperimentSubmitted(experiment_id=own_id, name=experiment.name, team=caller.team)
    return answer_start(router, own_id, answer)


@router.get(
    "/experiments",
    summary="The team's experiments",
    description="Newest first.",
    response_description="The first experiments, at most `limit`.",
    operation_id="list_experiments",
    tags=["experiments"],
)
def list_experiments(
    limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of experiments.")] = 50,
) -> Experiments:
    """List the experiments of the caller's team."""
    table = open_experiments(read_settings(router))
    records, unreadable = table.of_team(read_caller(router).team)
    return Experiments(experiments=tuple(records[:limit]), unreadable=unreadable)


@router.get(
    "/experiments/<experiment_id>",
    summary="Get an experiment's state",
    description="Returns its cells, each a run. Once it has ended: what to buy for each question,"
    " and what each step up in IOPS gained.",
    response_description="The experiment.",
    operation_id="get_experiment",
    tags=["experiments"],
)
def show_experiment(experiment_id: ExperimentId) -> ExperimentDetail:
    """Show an experiment of the caller's team."""
    settings = read_settings(router)
    status = get_experiment(settings, read_caller(router).team, experiment_id)
    result = read_experiment_result(settings, status.record)
    return ExperimentDetail(record=status.record, cells=status.cells, result=result)


@router.delete(
    "/experiments/<experiment_id>",
    summary="Stop an experiment",
    description="Stops its runs and deletes their targets; what was measured is still compared."
    " Idempotent.",
    responses=describe_stop(ExperimentRecord),
    operation_id="stop_experiment",
    tags=["experiments"],
)
def delete_experiment(experiment_id: ExperimentId) -> Response[ExperimentRecord]:
    """Stop an experiment of the caller's team."""
    record = stop_experiment(read_settings(router), read_caller(router).team, experiment_id)
    return answer_stop(record.state, record)

"""The functions of the service: experiments, checks and the API."""

from plimsoll.model.function import Function, Permission, Resource
from plimsoll.model.function_parts import (
    CHANGE_EXPERIMENT,
    CHANGE_LIMITS,
    DELETE_SNAPSHOTS,
    LIST_RUN,
    READ_EXPERIMENT,
    READ_EXPERIMENT_RECORD,
    READ_RECORD,
    READ_RUN,
    RESOLVE_VERSION,
    SEE_RUN,
    SEE_SNAPSHOTS,
    SERVE_EXPERIMENTS,
    STOP_RUN,
    TELL,
    WRITE_RECORD,
    WRITE_RUN,
)
from plimsoll.model.function_settings import (
    ApiSettings,
    DeleteDatasetsSettings,
    JudgeCheckSettings,
    ServiceSettings,
    SettleCellsSettings,
    StartCheckSettings,
    SubmitSettings,
    TeamSettings,
)

OF_SERVICE = (
    Function(
        name="plan-experiment",
        summary="Marks an experiment as started and puts its cells in order.",
        timeout_s=30,
        memory_mib=512,
        settings=TeamSettings,
        permissions=(READ_EXPERIMENT, CHANGE_EXPERIMENT),
    ),
    Function(
        name="submit-cell",
        summary="Records the run of one cell, or of a dataset, which the workflow then starts.",
        timeout_s=60,
        memory_mib=512,
        settings=SubmitSettings,
        permissions=(
            SEE_RUN,
            READ_EXPERIMENT,
            READ_EXPERIMENT_RECORD,
            READ_RECORD,
            WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            WRITE_RUN,
            STOP_RUN,
            CHANGE_LIMITS,
            RESOLVE_VERSION,
        ),
    ),
    Function(
        name="delete-datasets",
        summary="Deletes the snapshots of an experiment's datasets, and says whether all are gone.",
        timeout_s=120,
        memory_mib=512,
        settings=DeleteDatasetsSettings,
        permissions=(
            READ_EXPERIMENT,
            CHANGE_EXPERIMENT,
            SEE_SNAPSHOTS,
            *DELETE_SNAPSHOTS,
            Permission(actions=("scheduler:DeleteSchedule",), resource=Resource.DELETION_SCHEDULES),
        ),
    ),
    Function(
        name="settle-cells",
        summary="Says whether every cell of an experiment has ended; stops them where asked.",
        timeout_s=120,
        memory_mib=512,
        settings=SettleCellsSettings,
        permissions=(
            READ_EXPERIMENT,
            CHANGE_EXPERIMENT,
            READ_RECORD,
            WRITE_RECORD,
            STOP_RUN,
            CHANGE_LIMITS,
        ),
    ),
    Function(
        name="conclude-experiment",
        summary="Compares an experiment's cells, draws its decision, and writes how it ended.",
        timeout_s=300,
        memory_mib=3008,  # holds the results of 200 runs
        settings=ServiceSettings,
        permissions=(
            READ_EXPERIMENT,
            Permission(actions=("s3:PutObject",), resource=Resource.EXPERIMENT_FILES),
            CHANGE_EXPERIMENT,
            READ_RUN,
            LIST_RUN,
            READ_RECORD,
        ),
    ),
    Function(
        name="start-check",
        summary="Starts the runs of a check, when its schedule fires.",
        timeout_s=120,
        memory_mib=1024,
        extras=("checks",),  # a run that is refused is judged at once
        retries=2,  # the runs' ids follow from the firing: a repeated call finds them
        settings=StartCheckSettings,
        permissions=(
            WRITE_RUN,
            READ_RECORD,
            WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            Permission(
                actions=(
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem",
                    "dynamodb:Query",
                ),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(actions=("states:StartExecution",), resource=Resource.RUN_MACHINE),
            Permission(actions=("sns:Publish",), resource=Resource.ALARM_TOPIC),
            TELL,
            RESOLVE_VERSION,
            SEE_RUN,
        ),
    ),
    Function(
        name="judge-check",
        summary="Judges the check that a run belongs to, when the run has ended.",
        timeout_s=120,
        memory_mib=1024,
        extras=("checks",),
        retries=2,  # it remembers which changes it has reported
        settings=JudgeCheckSettings,
        permissions=(
            READ_RUN,
            LIST_RUN,
            Permission(
                actions=(
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem",
                    "dynamodb:Query",
                ),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(actions=("sns:Publish",), resource=Resource.ALARM_TOPIC),
            TELL,
        ),
    ),
    Function(
        name="api",
        summary="Answers the REST API.",
        timeout_s=29,  # API Gateway waits no longer
        memory_mib=1024,
        extras=("service",),
        settings=ApiSettings,
        permissions=(
            READ_RUN,  # a presigned link may do what its maker may
            WRITE_RUN,
            LIST_RUN,
            READ_RECORD,
            WRITE_RECORD,
            Permission(actions=("dynamodb:PutItem",), resource=Resource.RUNS_TABLE),
            Permission(actions=("dynamodb:Query",), resource=Resource.RUNS_BY_TEAM),
            CHANGE_LIMITS,
            Permission(actions=("states:StartExecution",), resource=Resource.RUN_MACHINE),
            SEE_RUN,
            Permission(actions=("states:StopExecution",), resource=Resource.RUN_EXECUTIONS),
            *SERVE_EXPERIMENTS,
            Permission(
                actions=(
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:DeleteItem",
                    "dynamodb:Query",
                ),
                resource=Resource.SERVICE_TABLE,
            ),
            Permission(
                actions=(
                    "scheduler:CreateSchedule",
                    "scheduler:UpdateSchedule",
                    "scheduler:DeleteSchedule",
                ),
                resource=Resource.CHECK_SCHEDULES,
            ),
            Permission(actions=("iam:PassRole",), resource=Resource.CHECK_ROLE),
            RESOLVE_VERSION,
        ),
    ),
)

"""What a caller may ask before a run: health, built-in workloads, scenarios and schemas."""

import contextlib
from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

import plimsoll
from plimsoll.api.context import read_settings
from plimsoll.aws.run_records import records_of
from plimsoll.console.scenarios import Scenarios, scenarios
from plimsoll.errors import RunNotFoundError
from plimsoll.model.service.answers import Health, Workloads, WorkloadSummary
from plimsoll.requests.schemas import SchemaName, schema
from plimsoll.workload import list_builtin_names, load_workload

router = APIGatewayRouter()


@router.get(
    "/health",
    summary="Check the service",
    description="Answers if the service can read its table of runs.",
    response_description="The service works.",
    operation_id="get_health",
    tags=["service"],
)
def get_health() -> Health:
    """Check that the table answers, by looking for a run that cannot exist."""
    with contextlib.suppress(RunNotFoundError):
        records_of(read_settings(router)).get("health")
    return Health(status="ok", version=plimsoll.__version__)


@router.get(
    "/workloads",
    summary="List the built-in workloads",
    description="Returns the possible values of `workload.name` of a request, and the parameters"
    " of each.",
    response_description="All workloads, sorted by name.",
    operation_id="list_workloads",
    tags=["workloads"],
)
def list_workloads() -> Workloads:
    """List the workloads."""
    names = [name for name in list_builtin_names() if not load_workload(name).has_procedures]
    return Workloads(workloads=tuple(map(_summarize_workload, names)))


@cache
def _summarize_workload(name: str) -> WorkloadSummary:
    workload = load_workload(name)
    operations = {"operations": workload.operation_names}
    return WorkloadSummary.model_validate(workload.summary() | operations)


@router.get(
    "/schemas/<name>",
    summary="The JSON Schema of a document to send",
    description="The schema in docs/schemas of this version; dialect 2020-12.",
    response_description="The schema.",
    operation_id="get_schema",
    tags=["service"],
)
def get_schema(
    name: Annotated[SchemaName, Path(description="Document that the schema describes.")],
) -> dict[str, Any]:
    """Return a schema."""
    return schema(name)


@router.get(
    "/scenarios",
    summary="The scenarios that come with Plimsoll",
    description="Requests to start from, as YAML text and as JSON.",
    response_description="All scenarios, sorted by name.",
    operation_id="list_scenarios",
    tags=["service"],
)
def list_scenarios() -> Scenarios:
    """List the scenarios."""
    return scenarios()

"""`GET /workloads`."""

from functools import cache

from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from plimsoll.model.service.answers import Workloads, WorkloadSummary
from plimsoll.workload import list_builtin_names, load_workload

router = APIGatewayRouter()


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

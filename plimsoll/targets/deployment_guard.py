"""Keeping a deployment from being deleted while it still has something to look after."""

from plimsoll.aws import clients
from plimsoll.errors import TargetsAliveError
from plimsoll.targets.janitor import STACK_PREFIX


def close_door(function_name: str) -> None:
    """Let the function that creates targets start no more."""
    clients.lambda_().put_function_concurrency(
        FunctionName=function_name, ReservedConcurrentExecutions=0
    )


def open_door(function_name: str) -> None:
    """Let the function that creates targets start again."""
    clients.lambda_().delete_function_concurrency(FunctionName=function_name)


def require_no_target(run_machine_arn: str) -> None:
    """Make sure that no target is alive and that no run is under way.

    Raises:
        TargetsAliveError: There is one; the message names up to ten of each kind.
    """
    runs = _runs_under_way(run_machine_arn)
    stacks = _living_stacks()
    alive = [
        f"{kind} {', '.join(names[:10])}"
        for kind, names in (("the runs", runs), ("the targets' stacks", stacks))
        if names
    ]
    if alive:
        raise TargetsAliveError(
            f"still there: {' and '.join(alive)}. Stop the runs or wait for their teardown,"
            " then delete again; nothing has been deleted yet"
        )


def _runs_under_way(run_machine_arn: str) -> list[str]:
    pages = clients.stepfunctions().get_paginator("list_executions")
    return [
        execution["name"]
        for page in pages.paginate(stateMachineArn=run_machine_arn, statusFilter="RUNNING")
        for execution in page["executions"]
    ]


def _living_stacks() -> list[str]:
    pages = clients.cloudformation().get_paginator("describe_stacks")
    return [
        stack["StackName"]
        for page in pages.paginate()
        for stack in page["Stacks"]
        if stack["StackName"].startswith(STACK_PREFIX) and stack["StackStatus"] != "DELETE_COMPLETE"
    ]

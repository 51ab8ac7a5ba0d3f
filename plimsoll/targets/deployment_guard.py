"""Prevents the deletion of a deployment that still has targets, runs or snapshots."""

from typing import TYPE_CHECKING, get_args

from plimsoll.aws import clients
from plimsoll.errors import TargetsAliveError
from plimsoll.targets.janitor import STACK_PREFIX
from plimsoll.targets.snapshots import Kind, list_snapshots

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef


def block_target_creation(function_name: str) -> None:
    """Keep the function that creates targets from starting, by a concurrency of 0."""
    clients.lambda_().put_function_concurrency(
        FunctionName=function_name, ReservedConcurrentExecutions=0
    )


def allow_target_creation(function_name: str) -> None:
    """Allow the function that creates targets to start again."""
    clients.lambda_().delete_function_concurrency(FunctionName=function_name)


def require_no_target(run_machine_arn: str, role_arn: str) -> None:
    """Check that a deployment has no target, no snapshot and no running run.

    Args:
        run_machine_arn: The deployment's workflow of runs.
        role_arn: The role with which CloudFormation manages this deployment's targets, and no
            others.

    Raises:
        TargetsAliveError: Something is still there; the message names up to ten of each kind.
    """
    runs = _list_running_runs(run_machine_arn)
    stacks = [
        stack["StackName"] for stack in list_target_stacks() if _may_belong_to(stack, role_arn)
    ]
    alive = [
        f"{kind} {', '.join(names[:10])}"
        for kind, names in (
            ("the runs", runs),
            ("the targets' stacks", stacks),
            ("the datasets' snapshots", _list_snapshot_names()),
        )
        if names
    ]
    if alive:
        raise TargetsAliveError(
            f"still there: {' and '.join(alive)}. Stop the runs or wait for their teardown,"
            " then delete again; nothing has been deleted yet"
        )


def _list_running_runs(run_machine_arn: str) -> list[str]:
    pages = clients.stepfunctions().get_paginator("list_executions")
    return [
        execution["name"]
        for page in pages.paginate(stateMachineArn=run_machine_arn, statusFilter="RUNNING")
        for execution in page["executions"]
    ]


def _list_snapshot_names() -> list[str]:
    """Return the names of the account's dataset snapshots; no tag says whose they are."""
    return [snapshot.name for kind in get_args(Kind) for snapshot in list_snapshots(kind)]


def list_target_stacks() -> "list[StackTypeDef]":
    """Return all target stacks that are not deleted, of every deployment in this region."""
    pages = clients.cloudformation().get_paginator("describe_stacks")
    return [
        stack
        for page in pages.paginate()
        for stack in page["Stacks"]
        if stack["StackName"].startswith(STACK_PREFIX) and stack["StackStatus"] != "DELETE_COMPLETE"
    ]


def _may_belong_to(stack: "StackTypeDef", role_arn: str) -> bool:
    """Whether a stack may belong to the deployment; one without a role may belong to any."""
    return stack.get("RoleARN", role_arn) == role_arn

"""What AWS knows under a tag of ours: the Resource Groups Tagging API, and the janitor's view."""

from collections.abc import Callable

from plimsoll.aws import clients
from plimsoll.canary.place import Left
from plimsoll.targets.deployment_guard import living_stacks

RUN_TAG = "plimsoll:run-id"
DEPLOYMENT_TAG = "plimsoll:deployment"


def left_under(tag: str, value: str) -> list[Left]:
    """List the resources that bear a tag.

    The API goes on to list for some minutes what has just been deleted: ask again before despair.

    https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
    """
    pages = clients.tagging().get_paginator("get_resources")
    found = pages.paginate(TagFilters=[{"Key": tag, "Values": [value]}])
    arns = [row["ResourceARN"] for page in found for row in page["ResourceTagMappingList"]]
    return [Left(arn, deletion_of(arn)) for arn in arns]


def left_of_target(run_id: str) -> list[Left]:
    """List what is left of a run's target: what bears its tag, and the stack that the janitor sees.

    Args:
        run_id: The run.
    """
    tagged = left_under(RUN_TAG, run_id)
    known = " ".join(left.what for left in tagged)
    stacks = (stack["StackName"] for stack in living_stacks())
    own = [name for name in stacks if name.endswith(run_id) and name not in known]
    return [*tagged, *(Left(f"the stack {name}", delete_stack(name)) for name in own)]


def delete_stack(name: str) -> str:
    """Give the command that deletes a stack."""
    return f"aws cloudformation delete-stack --stack-name {name}"


def deletion_of(arn: str) -> str:
    """Give the command that deletes a resource; of a kind that is not known, one that shows it."""
    service, name = arn.split(":")[2], arn.split(":", 5)[5]
    make = _DELETIONS.get((service, *_kind(name))) or _DELETIONS.get((service,))
    return (
        make(name)
        if make
        else f"aws resourcegroupstaggingapi get-resources --resource-arn-list {arn}"
    )


def _kind(name: str) -> tuple[str, ...]:
    for separator in ("/", ":"):
        kind, found, _ = name.partition(separator)
        if found and ":" not in kind:
            return (kind,)
    return ()


def _tail(name: str) -> str:
    return name.replace(":", "/").rpartition("/")[2]


_Command = Callable[[str], str]
_DELETIONS: dict[tuple[str, ...], _Command] = {
    ("cloudformation", "stack"): lambda name: delete_stack(name.split("/")[1]),
    ("rds", "db"): lambda name: (
        f"aws rds delete-db-instance --db-instance-identifier {_tail(name)}"
        " --skip-final-snapshot --delete-automated-backups"
    ),
    ("rds", "cluster"): lambda name: (
        f"aws rds delete-db-cluster --db-cluster-identifier {_tail(name)} --skip-final-snapshot"
    ),
    ("ec2", "instance"): lambda name: f"aws ec2 terminate-instances --instance-ids {_tail(name)}",
    ("ec2", "volume"): lambda name: f"aws ec2 delete-volume --volume-id {_tail(name)}",
    ("secretsmanager",): lambda name: (
        f"aws secretsmanager delete-secret --secret-id {name.removeprefix('secret:')}"
    ),
    ("dynamodb", "table"): lambda name: f"aws dynamodb delete-table --table-name {_tail(name)}",
    ("logs",): lambda name: (
        f"aws logs delete-log-group --log-group-name {name.removeprefix('log-group:')}"
    ),
    ("s3",): lambda name: f"aws s3 rb --force s3://{name}",
}

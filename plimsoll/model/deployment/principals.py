"""Who calls, as IAM names it, and who is meant by the ARNs of a configuration.

API Gateway names a caller by the ARN of a user, or of a role's session:
`arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION`, in which a role's path is not (IAM's names of
roles are unique in an account, whatever their path).
"""

from fnmatch import fnmatchcase
from functools import cache


def matches(pattern: str, caller: str) -> bool:
    """Whether a configured principal means a caller.

    Args:
        pattern: A user's ARN, a role's (all of its sessions), or that of sessions, with `*`.
        caller: The ARN that API Gateway gives (`requestContext.identity.userArn`).
    """
    meant = sessions(pattern)
    return fnmatchcase(caller, meant) if "*" in meant else caller == meant


def sessions(pattern: str) -> str:
    """Write a role's ARN as that of all its sessions; anything else stays as it is."""
    partition, _, account, resource = _parts(pattern)
    if not resource.startswith("role/"):
        return pattern
    role = resource.rpartition("/")[2]
    return f"arn:{partition}:sts::{account}:assumed-role/{role}/*"


def overlap(pattern: str, other: str) -> bool:
    """Whether some caller is meant by both of two configured principals."""
    return _meet(sessions(pattern), sessions(other))


@cache
def _meet(first: str, second: str) -> bool:
    """Whether two patterns with `*` have a text in common."""
    if not first or not second:
        return not (first or second).strip("*")
    if first[0] == "*":
        return _meet(first[1:], second) or _meet(first, second[1:])
    if second[0] == "*":
        return _meet(second, first)
    return first[0] == second[0] and _meet(first[1:], second[1:])


def _parts(arn: str) -> tuple[str, str, str, str]:
    _, partition, service, _, account, resource = arn.split(":", 5)
    return partition, service, account, resource

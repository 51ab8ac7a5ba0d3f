"""Matches callers against the principals of a configuration.

API Gateway identifies a caller by the ARN of a user or of a role's session:
`arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION`. This ARN omits the path of the role; the name of a
role is unique in an account regardless of its path.
"""

from fnmatch import fnmatchcase
from functools import cache


def matches_principal(pattern: str, caller: str) -> bool:
    """Return whether a configured principal includes a caller.

    Args:
        pattern: ARN of a user, of a role (all of its sessions), or of sessions, with `*`.
        caller: ARN from API Gateway (`requestContext.identity.userArn`).
    """
    meant = make_session_pattern(pattern)
    return fnmatchcase(caller, meant) if "*" in meant else caller == meant


@cache
def make_session_pattern(pattern: str) -> str:
    """Return the ARN pattern of a role's sessions; other ARNs are returned unchanged."""
    partition, _, account, resource = _split_arn(pattern)
    if not resource.startswith("role/"):
        return pattern
    role = resource.rpartition("/")[2]
    return f"arn:{partition}:sts::{account}:assumed-role/{role}/*"


def have_common_caller(pattern: str, other: str) -> bool:
    """Return whether some caller could be included by both of two configured principals."""
    first, second = make_session_pattern(pattern), make_session_pattern(other)
    heads = first.partition("*")[0], second.partition("*")[0]
    shared = min(map(len, heads))  # most pairs of hundreds of principals differ here already
    return heads[0][:shared] == heads[1][:shared] and _have_common_text(first, second)


@cache
def _have_common_text(first: str, second: str) -> bool:
    """Return whether some text matches both of two patterns with `*`."""
    if not first or not second:
        return not (first or second).strip("*")
    if first[0] == "*":
        return _have_common_text(first[1:], second) or _have_common_text(first, second[1:])
    if second[0] == "*":
        return _have_common_text(second, first)
    return first[0] == second[0] and _have_common_text(first[1:], second[1:])


def _split_arn(arn: str) -> tuple[str, str, str, str]:
    _, partition, service, _, account, resource = arn.split(":", 5)
    return partition, service, account, resource

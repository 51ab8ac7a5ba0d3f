"""Who is meant by the ARNs of a team."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.deployment.deployment import read_deployment
from plimsoll.model.deployment.principals import have_common_caller, matches_principal

ROLE = "arn:aws:iam::123456789012:role/path/runner"
SESSION = "arn:aws:sts::123456789012:assumed-role/runner/ci-7"
USER = "arn:aws:iam::123456789012:user/ann"


@pytest.mark.parametrize(
    ("pattern", "caller", "meant"),
    [
        (USER, USER, True),
        (USER, "arn:aws:iam::123456789012:user/anna", False),
        (USER, "arn:aws:iam::210987654321:user/ann", False),
        (ROLE, SESSION, True),  # a session's ARN does not have the role's path
        (ROLE, "arn:aws:sts::123456789012:assumed-role/runner-2/ci-7", False),
        (ROLE, "arn:aws:sts::210987654321:assumed-role/runner/ci-7", False),
        (SESSION, SESSION, True),
        ("arn:aws:sts::123456789012:assumed-role/runner/ci-*", SESSION, True),
        ("arn:aws:sts::123456789012:assumed-role/runner/cd-*", SESSION, False),
    ],
)
def test_a_principal_means_callers(pattern: str, caller: str, meant: bool) -> None:
    assert matches_principal(pattern, caller) is meant


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (USER, USER, True),
        (ROLE, SESSION, True),
        (ROLE, USER, False),
        ("arn:aws:sts::1:assumed-role/r/a-*", "arn:aws:sts::1:assumed-role/r/*-b", True),
        ("arn:aws:sts::1:assumed-role/r/a-*", "arn:aws:sts::1:assumed-role/r/b-*", False),
    ],
)
def test_two_principals_may_share_a_caller(one: str, other: str, shared: bool) -> None:
    assert have_common_caller(one, other) is shared
    assert have_common_caller(other, one) is shared


@pytest.mark.parametrize(
    "principal",
    [
        "*",
        "arn:aws:iam::123456789012:root",
        "arn:aws:iam::123456789012:user/*",
        "arn:aws:iam::*:user/ann",
        "arn:aws:sts::123456789012:assumed-role/*/ci",
        "123456789012",
    ],
)
def test_a_principal_that_means_anyone_is_refused(principal: str) -> None:
    with pytest.raises(UsageError, match=r"teams\.dba\.principals\.0"):
        read_deployment({"teams": {"dba": {"principals": [principal]}}})


def test_nobody_belongs_to_two_teams() -> None:
    teams = {"dba": {"principals": [ROLE]}, "web": {"principals": [USER, SESSION]}}
    with pytest.raises(UsageError, match="teams dba and web share a principal"):
        read_deployment({"teams": teams})

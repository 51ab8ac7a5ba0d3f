"""The one role with which API Gateway writes the logs of all APIs of an account and region."""

from plimsoll.aws import clients
from plimsoll.errors import PlimsollError

LOG_ROLE = "Custom::ApiLogRole"  # type of the custom resource that looks before it is set


def require_no_other_log_role(own: str) -> None:
    """Refuse to replace a log role that other APIs rely on.

    One that an earlier deployment of the same stack left is replaced by one that may do the same.

    Args:
        own: The ARN of this deployment's role.

    Raises:
        PlimsollError: The account has another role.
    """
    found = clients.apigateway().get_account().get("cloudwatchRoleArn")
    if found and _strip_suffix(found) != _strip_suffix(own):
        raise PlimsollError(
            f"API Gateway writes logs as {found} in this account and region already: set"
            " plimsoll.api.makes_log_role to false in cdk.json, and this role is used"
        )


def _strip_suffix(role_arn: str) -> str:
    """Return a role's ARN without the random end of the name that CloudFormation gave it."""
    return role_arn.rpartition("-")[0] or role_arn

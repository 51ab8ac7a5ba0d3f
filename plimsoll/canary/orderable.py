"""What of the preflight needs no deployment: whether the account can make the canary's target."""

from collections.abc import Iterator

from plimsoll.errors import PreflightError
from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.request import Request
from plimsoll.preflight.checks import Check
from plimsoll.preflight.quota_checks import quota_checks
from plimsoll.preflight.rds_checks import rds_target_checks, role_check


def require_orderable(request: Request) -> None:
    """Look before anything is made; what these credentials cannot know is no failure.

    Raises:
        PreflightError: The account, its region or its quotas do not have what the run takes.
    """
    failed = [check for check in _checks(request) if check.state == "failed"]
    if failed:
        lines = (f"{check.name}: {check.detail}; {check.to_do}" for check in failed)
        raise PreflightError("\n".join(("nothing has been made:", *lines)))


def _checks(request: Request) -> Iterator[Check]:
    if isinstance(request.target, RdsTarget | AuroraTarget):
        yield from rds_target_checks(request.target, ())
        yield from role_check()
    yield from quota_checks([request])

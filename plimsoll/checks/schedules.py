"""The checks of a team: create, read, list, delete, and the schedule of each."""

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from plimsoll.aws import clients
from plimsoll.checks.store import CheckStore
from plimsoll.complaints import Complaint, complain_of_unknown
from plimsoll.errors import CheckNotFoundError, LimitReachedError, UsageError
from plimsoll.model.aws.schedule_expression import Recurring, parse_expression, parse_zone
from plimsoll.model.base import Model
from plimsoll.model.deployment.function_settings import (
    CheckSettings,
    ServiceSettings,
    SubmitSettings,
)
from plimsoll.model.request.check import Check, CompareLatency
from plimsoll.model.request.request import Request
from plimsoll.model.run.check_history import History
from plimsoll.requests.checked_request import CheckedRequest, check_request
from plimsoll.workflow.submit import require_possible_run

SCHEDULE_NAME_MOST = 64  # the limit of EventBridge Scheduler
POINTS_MOST = 200  # the latest points of a history that are judged and shown
# https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
# a firing that comes hours late is useless, because the next one follows
RETRIES = {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 20}


class ScheduledCheck(Check):
    """A check with its next run."""

    next_at: datetime | None = Field(
        description="Time of the next run; null if the check is disabled or has not run yet."
    )


class ScheduledChecks(Model):
    """The checks of a team."""

    schedules: tuple[ScheduledCheck, ...]
    unreadable: int = Field(
        0,
        description="Number of schedules that were left out because this version of the service"
        " cannot read them; its logs name them.",
    )


def put_check(settings: CheckSettings, team: str, check: Check) -> bool:
    """Create or replace a check and its schedule, or neither; returns True if it is new.

    The check is written first, since a `rate(...)` schedule starts its first run at once. If the
    schedule is refused, the check is taken back.

    Raises:
        UsageError: Something is not valid; names the field. Nothing was changed.
        LimitReachedError: A limit of the team never leaves room for its run.
    """
    _require_possible(settings, team, check)
    store = _open_store(settings)
    replaced = store.put_check(team, check)
    try:
        _put_schedule(settings, team, check)
    except Exception:
        store.take_back_check(team, check, replaced)
        raise
    return replaced is None


def read_check(settings: ServiceSettings, team: str, name: str) -> ScheduledCheck:
    """Read a check.

    Raises:
        CheckNotFoundError: There is no check with this name.
    """
    store = _open_store(settings)
    return _add_next_run(store, team, store.read_check(team, name))


def list_checks(settings: ServiceSettings, team: str) -> ScheduledChecks:
    """Return a team's checks, sorted by name; unreadable ones are left out and counted."""
    store = _open_store(settings)
    checks, unreadable = store.list_checks(team)
    scheduled = tuple(_add_next_run(store, team, check) for check in checks)
    return ScheduledChecks(schedules=scheduled, unreadable=unreadable)


def delete_check(settings: CheckSettings, team: str, name: str) -> None:
    """Delete a check and its schedule. Current runs go on, and its history stays.

    Raises:
        CheckNotFoundError: There is no check with this name.
    """
    client = clients.scheduler()
    with suppress(client.exceptions.ResourceNotFoundException):
        client.delete_schedule(Name=make_schedule_name(team, name), GroupName=settings.check_group)
    if not _open_store(settings).delete_check(team, name):
        raise CheckNotFoundError(f"team {team} has no schedule {name!r}")


def read_check_history(settings: ServiceSettings, team: str, name: str) -> History:
    """Read a check's history with its latest judgement.

    Raises:
        CheckNotFoundError: There is no check with this name.
    """
    store = _open_store(settings)
    store.read_check(team, name)
    _, judgement = store.judgement(team, name)
    points = store.read_points(team, name, most=POINTS_MOST)
    return History(points=points, **dict(judgement))


def make_schedule_name(team: str, name: str) -> str:
    """Return the name of a check's schedule: it begins with the team, whose name has no dot."""
    return f"{team}.{name}"


def _require_possible(settings: CheckSettings, team: str, check: Check) -> None:
    if len(make_schedule_name(team, check.name)) > SCHEDULE_NAME_MOST:
        most = SCHEDULE_NAME_MOST - len(team) - 1
        problem = f"{check.name!r} is longer than {most} characters"
        allowed = (f"at most {most} long",)
        raise UsageError(Complaint(("name",), problem, check.name, allowed, listed=False))
    expression = parse_expression(check.schedule)
    if expression.first(datetime.now(UTC), parse_zone(check.time_zone)) is None:
        problem = f"{check.schedule} never fires: it has no time in the future"
        raise UsageError(Complaint(("schedule",), problem, check.schedule))
    try:
        check.request.require_nothing_of_one_machine("`plimsoll run --local`")
    except UsageError as error:
        raise error.within("request") from None
    checked = _require_possible_run(settings, team, check.request)
    if check.control_request is not None:
        _require_possible_control(settings, team, check.control_request)
    operations = checked.workload.operation_names
    for index, compared in enumerate(check.compare):
        if isinstance(compared, CompareLatency) and compared.operation not in operations:
            name, path = compared.operation, ("compare", index, "operation")
            raise UsageError(complain_of_unknown("operation", name, operations, path, value=name))


def _require_possible_run(settings: SubmitSettings, team: str, request: Request) -> CheckedRequest:
    try:
        checked = check_request(request.model_copy(update={"team": team}))
        require_possible_run(settings, checked)
    except UsageError as error:
        raise error.within("request") from None
    except LimitReachedError as error:
        raise error.move(lambda about: about.within("request")) from None
    return checked


def _require_possible_control(settings: SubmitSettings, team: str, request: Request) -> None:
    """Refuse an invalid control: its target is `control`, everything else the check's request."""
    try:
        _require_possible_run(settings, team, request)
    except UsageError as error:
        raise UsageError(*map(_place_in_control, error.complaints)) from None
    except LimitReachedError as error:
        raise error.move(_place_in_control) from None


def _place_in_control(about: Complaint) -> Complaint:
    if about.path[:2] == ("request", "target"):
        return replace(about, path=("control", *about.path[2:]))
    return about


def _put_schedule(settings: CheckSettings, team: str, check: Check) -> None:
    client = clients.scheduler()
    flexible = check.flexible_minutes
    firing = {"team": team, "name": check.name, "scheduled_at": SCHEDULED_TIME}
    schedule: Any = {  # both calls take the same members, but their types differ
        "Name": make_schedule_name(team, check.name),
        "GroupName": settings.check_group,
        "ScheduleExpression": check.schedule,
        "ScheduleExpressionTimezone": check.time_zone,
        "FlexibleTimeWindow": (
            {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": flexible}
            if flexible
            else {"Mode": "OFF"}
        ),
        "State": "ENABLED" if check.enabled else "DISABLED",
        "Target": {
            "Arn": settings.start_check_arn,
            "RoleArn": settings.check_role_arn,
            "Input": json.dumps(firing),
            "RetryPolicy": RETRIES,
        },
    }
    try:
        try:
            client.create_schedule(**schedule)
        except client.exceptions.ConflictException:
            client.update_schedule(**schedule)
    except client.exceptions.ValidationException as error:
        problem = f"EventBridge Scheduler refuses it: {error.response['Error']['Message']}"
        raise UsageError(Complaint(("schedule",), problem, check.schedule)) from error


def put_off_check(
    settings: CheckSettings, team: str, name: str, scheduled_at: datetime, until: datetime
) -> None:
    """Have a check start once at a later time. The first of several that are put off is kept."""
    client = clients.scheduler()
    firing = {"team": team, "name": name, "scheduled_at": scheduled_at.isoformat()}
    digest = hashlib.sha256(f"{team}\0{name}\0{until.isoformat()}".encode()).hexdigest()
    with suppress(client.exceptions.ConflictException):
        client.create_schedule(
            Name=f".put-off.{digest[:32]}",  # no check's: the name of a team has no dot
            GroupName=settings.check_group,
            ScheduleExpression=f"at({until:%Y-%m-%dT%H:%M:%S})",
            ScheduleExpressionTimezone="UTC",
            FlexibleTimeWindow={"Mode": "OFF"},
            ActionAfterCompletion="DELETE",
            Target={
                "Arn": settings.start_check_arn,
                "RoleArn": settings.check_role_arn,
                "Input": json.dumps(firing),
                "RetryPolicy": {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 20},
            },
        )


def _add_next_run(store: CheckStore, team: str, check: Check) -> ScheduledCheck:
    return ScheduledCheck(**dict(check), next_at=_find_next_run(store, team, check))


def _find_next_run(store: CheckStore, team: str, check: Check) -> datetime | None:
    if not check.enabled:
        return None
    expression, zone = parse_expression(check.schedule), parse_zone(check.time_zone)
    now = datetime.now(UTC)
    if isinstance(expression, Recurring):
        return expression.after(now, zone)
    last = store.read_points(team, check.name, most=1)
    return expression.after(last[0].scheduled_at, zone) if last else None


def _open_store(settings: ServiceSettings) -> CheckStore:
    return CheckStore(settings.service_table)

"""The runs of a check: started by its schedule, and added to its history when they end."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

from plimsoll.aws.drain import find_drain
from plimsoll.aws.run_files import RESULT, files_of
from plimsoll.aws.run_records import records_of
from plimsoll.checks.judging import judge_history
from plimsoll.checks.schedules import POINTS_MOST, put_off_check
from plimsoll.checks.series import read_figures
from plimsoll.checks.store import CheckStore, Side, Started
from plimsoll.errors import CheckNotFoundError, PlimsollError, RunNotFoundError
from plimsoll.model.deployment.function_settings import (
    JudgeCheckSettings,
    RunSettings,
    StartCheckSettings,
    SubmitSettings,
)
from plimsoll.model.request.check import Check
from plimsoll.model.request.request import Request
from plimsoll.model.run.check_history import HistoryPoint, RunOfCheck
from plimsoll.model.run.results import RunResult
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.submit import name_run, start_execution, submit_run

# fields that may differ between comparable runs: names, limits, and what RDS may charge
_NAMES_AND_LIMITS = ("name", "description", "team", "tags", "budget_usd", "time_limit_s", "faults")
NOT_MEASURED: Mapping[str, bool | set[str]] = {
    **dict.fromkeys(_NAMES_AND_LIMITS, True),
    "target": {"extended_support"},
}


def start_check(
    settings: StartCheckSettings, team: str, name: str, scheduled_at: datetime
) -> dict[str, object]:
    """Begin a point of a check's history and submit its runs. Safe to repeat.

    If a run is refused, no end of it will trigger a judgement, so the history is judged here.
    Scheduler delivers a firing at least once: run ids depend only on its time, so a second delivery
    finds the runs of the first.

    Args:
        settings: The settings of the deployment.
        team: The team of the check.
        name: The name of the check.
        scheduled_at: The time of the firing, as Scheduler gives it.

    Returns:
        The run ids by `target` and `control`; empty for a deleted or disabled check, and for one
        that is put off because the deployment is drained.
    """
    until = find_drain(settings.service_table, datetime.now(UTC))
    if until is not None:
        put_off_check(settings, team, name, scheduled_at, until)
        return {}
    store = CheckStore(settings.service_table)
    try:
        check = store.read_check(team, name)
    except CheckNotFoundError:
        return {}  # deleted while its schedule fired
    if not check.enabled:
        return {}
    runs = _plan_runs(check, team, scheduled_at)
    point = HistoryPoint(
        scheduled_at=scheduled_at,
        target=_make_pending(*runs["target"]),
        control=_make_pending(*runs["control"]) if "control" in runs else None,
    )
    store.open_point(team, name, point)
    refusals = 0
    for side, (run_id, request) in runs.items():
        started = Started(team=team, name=name, scheduled_at=scheduled_at, side=side)
        store.bind(run_id, started)
        try:
            _start_run(
                settings, run_id, request, key=_make_idempotency_key(name, scheduled_at, side)
            )
        except PlimsollError as error:  # such as a limit: the gap in the history gives the reason
            refused = _make_pending(run_id, request).model_copy(
                update={"run_id": None, "problem": f"it was not started: {error}"}
            )
            store.settle(started, refused)
            refusals += 1
    if refusals:
        judge_history(settings, team, check)
    return {side: run_id for side, (run_id, _) in runs.items()}


def hash_measured(request: Request) -> str:
    """Return a hash of what a run measures: equal for runs whose figures are comparable."""
    measured = request.model_dump_json(exclude=NOT_MEASURED)
    return hashlib.sha256(measured.encode()).hexdigest()


def _plan_runs(check: Check, team: str, at: datetime) -> dict[Side, tuple[str, Request]]:
    requests: dict[Side, Request | None] = {
        "target": check.request,
        "control": check.control_request,
    }
    return {
        side: (
            name_run(team, _make_idempotency_key(check.name, at, side)),
            request.model_copy(update={"team": team}),
        )
        for side, request in requests.items()
        if request is not None
    }


def _make_idempotency_key(name: str, at: datetime, side: Side) -> str:
    return f"check#{name}#{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}#{side}"


def _make_pending(run_id: str, request: Request) -> RunOfCheck:
    return RunOfCheck(run_id=run_id, comparable=hash_measured(request))


def _start_run(settings: SubmitSettings, run_id: str, request: Request, *, key: str) -> None:
    try:
        records_of(settings).get(run_id)
    except RunNotFoundError:
        submit_run(settings, check_request(request), idempotency_key=key)
    else:  # an earlier delivery recorded it, perhaps from an older definition
        start_execution(settings.run_machine_arn, run_id)


# The end of a check's run: its figures are added to the history, which is judged.


SIDES: tuple[Side, ...] = ("target", "control")


def settle_and_judge(settings: JudgeCheckSettings, run_id: str) -> dict[str, object]:
    """Settle the ended runs of the check that started a run, and send what is new.

    All open points are examined, not only that of this run, to make up for a lost event.

    Returns:
        The number of messages sent.
    """
    store = CheckStore(settings.service_table)
    started = store.find_starter(run_id)
    if started is None:
        return {"messages": 0}
    team, name = started.team, started.name
    try:
        check = store.read_check(team, name)
    except CheckNotFoundError:
        return {"messages": 0}  # the check was deleted meanwhile
    for point in store.read_points(team, name, most=POINTS_MOST):
        if not point.settled:
            _settle_point(settings, store, started, check, point)
    return {"messages": judge_history(settings, team, check)}


def _settle_point(
    settings: RunSettings, store: CheckStore, started: Started, check: Check, point: HistoryPoint
) -> None:
    for side in SIDES:
        run: RunOfCheck | None = getattr(point, side)
        if run is None or run.settled or run.run_id is None:
            continue
        result = files_of(settings, run.run_id).find_model(RESULT, RunResult)
        if result is not None:
            place = started.model_copy(update={"scheduled_at": point.scheduled_at, "side": side})
            store.settle(place, _read_outcome(run, result, check))


def _read_outcome(run: RunOfCheck, result: RunResult, check: Check) -> RunOfCheck:
    return run.model_copy(
        update={
            "state": result.state,
            "verdict": result.capacity.verdict if result.capacity else None,
            "problem": result.failure.cause if result.failure else None,
            "figures": read_figures(result, check.compare),
        }
    )

"""The end of a check's run: its figures join the history, and regressions are announced."""

from collections.abc import Sequence

from plimsoll.aws import clients
from plimsoll.aws.event_bus import emit
from plimsoll.aws.run_files import RESULT, files_of
from plimsoll.checks.changes import Regression, changes, regressions
from plimsoll.checks.compared_figures import figures
from plimsoll.checks.message import subject, text
from plimsoll.checks.schedules import POINTS_MOST
from plimsoll.checks.store import CheckStore, Side, Started
from plimsoll.errors import CheckNotFoundError, PlimsollError
from plimsoll.model.check import Announced, Check, HistoryPoint, Judgement, RunOfCheck
from plimsoll.model.events import RegressionFound
from plimsoll.model.function_settings import JudgeCheckSettings, RunSettings
from plimsoll.model.results import RunResult

ATTEMPTS = 5
SIDES: tuple[Side, ...] = ("target", "control")


def judge_check(settings: JudgeCheckSettings, run_id: str) -> dict[str, object]:
    """Settle what has ended of the check that started a run, and tell of new regressions.

    Every open point is looked at, not only this run's: if the event of an end was lost, the next
    one makes up for it.

    Returns:
        How many messages were sent.
    """
    store = CheckStore(settings.service_table)
    started = store.started_by(run_id)
    if started is None:
        return {"messages": 0}
    team, name = started.team, started.name
    try:
        check = store.read_check(team, name)
    except CheckNotFoundError:
        return {"messages": 0}  # the check was deleted meanwhile
    for point in store.read_points(team, name, most=POINTS_MOST):
        if not point.settled:
            _settle(settings, store, started, check, point)
    return {"messages": _judge(settings, store, team, check)}


def _settle(
    settings: RunSettings, store: CheckStore, started: Started, check: Check, point: HistoryPoint
) -> None:
    for side in SIDES:
        run: RunOfCheck | None = getattr(point, side)
        if run is None or run.settled or run.run_id is None:
            continue
        result = files_of(settings, run.run_id).find_model(RESULT, RunResult)
        if result is not None:
            place = started.model_copy(update={"scheduled_at": point.scheduled_at, "side": side})
            store.settle(place, _outcome(run, result, check))


def _outcome(run: RunOfCheck, result: RunResult, check: Check) -> RunOfCheck:
    return run.model_copy(
        update={
            "state": result.state,
            "verdict": result.capacity.verdict if result.capacity else None,
            "problem": result.failure.cause if result.failure else None,
            "figures": figures(result, check.compare),
        }
    )


def _judge(settings: JudgeCheckSettings, store: CheckStore, team: str, check: Check) -> int:
    """Judge the settled points; if another call wrote first, judge again from what it wrote."""
    for _ in range(ATTEMPTS):
        version, before = store.judgement(team, check.name)
        points = store.read_points(team, check.name, most=POINTS_MOST)
        settled = [point for point in points if point.settled]
        new_regressions = regressions(check, settled, before.announced)
        new_announcements = [_announcement(regression, settled) for regression in new_regressions]
        now = Judgement(
            changes=changes(check, settled), announced=(*before.announced, *new_announcements)
        )
        if store.write_judgement(team, check.name, now, version=version):
            _send_all(
                settings, store, team, check, new_regressions, taken_back=(version + 1, before)
            )
            return len(new_regressions)
    raise PlimsollError(f"{check.name}: {ATTEMPTS} others judged it meanwhile")


def _announcement(regression: Regression, points: Sequence[HistoryPoint]) -> Announced:
    return Announced(
        metric=regression.change.metric, at=regression.change.at, through=points[-1].scheduled_at
    )


def _send_all(
    settings: JudgeCheckSettings,
    store: CheckStore,
    team: str,
    check: Check,
    new_regressions: Sequence[Regression],
    *,
    taken_back: tuple[int, Judgement],
) -> None:
    """Send the messages. They are recorded as announced first, so that of two calls only one sends.

    If one cannot be sent, the record is taken back and the call fails, to be repeated.
    """
    try:
        for regression in new_regressions:
            _send(settings, team, check, regression)
    except Exception:
        version, before = taken_back
        store.write_judgement(team, check.name, before, version=version)
        raise


def _send(settings: JudgeCheckSettings, team: str, check: Check, regression: Regression) -> None:
    run_id = regression.change.run_id
    results = files_of(settings, run_id).address if run_id else None
    words = text(team, check.name, regression, results)
    clients.sns().publish(
        TopicArn=settings.alarm_topic_arn,
        Subject=subject(check.name, regression.change),
        Message=words,
    )
    event = RegressionFound(
        team=team,
        check=check.name,
        change=regression.change,
        cause=regression.cause,
        results=results,
        text=words,
    )
    emit(settings.event_bus, event)

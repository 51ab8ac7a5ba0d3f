"""The end of a check's run: its figures join the history, which is judged."""

from plimsoll.aws.run_files import RESULT, files_of
from plimsoll.checks.compared_figures import figures
from plimsoll.checks.judging import judge
from plimsoll.checks.schedules import POINTS_MOST
from plimsoll.checks.store import CheckStore, Side, Started
from plimsoll.errors import CheckNotFoundError
from plimsoll.model.check import Check
from plimsoll.model.check_history import HistoryPoint, RunOfCheck
from plimsoll.model.function_settings import JudgeCheckSettings, RunSettings
from plimsoll.model.results import RunResult

SIDES: tuple[Side, ...] = ("target", "control")


def judge_check(settings: JudgeCheckSettings, run_id: str) -> dict[str, object]:
    """Settle what has ended of the check that started a run, and tell what is new.

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
    return {"messages": judge(settings, team, check)}


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

"""A check's settled history is judged, and what is new in it is told: each thing once."""

from collections.abc import Sequence

from plimsoll.aws import clients
from plimsoll.aws.event_bus import emit
from plimsoll.aws.run_files import files_of
from plimsoll.checks import message
from plimsoll.checks.changes import Regression, changes, regressions
from plimsoll.checks.message import Message
from plimsoll.checks.schedules import POINTS_MOST
from plimsoll.checks.series import silences
from plimsoll.checks.store import CheckStore
from plimsoll.errors import PlimsollError
from plimsoll.model.check import Check
from plimsoll.model.check_history import Announced, HistoryPoint, Judgement, Silence
from plimsoll.model.function_settings import JudgeCheckSettings

ATTEMPTS = 5


def judge(settings: JudgeCheckSettings, team: str, check: Check) -> int:
    """Judge a check's settled points; if another call wrote first, judge again from what it wrote.

    Returns:
        How many messages were sent.

    Raises:
        PlimsollError: Others judged it meanwhile, each time.
    """
    store = CheckStore(settings.service_table)
    for _ in range(ATTEMPTS):
        version, before = store.judgement(team, check.name)
        points = store.read_points(team, check.name, most=POINTS_MOST)
        settled = [point for point in points if point.settled]
        found = regressions(check, settled, before.announced)
        now = Judgement(
            changes=changes(check, settled),
            announced=(*before.announced, *(_announcement(one, settled) for one in found)),
            silences=silences(check, settled),
        )
        messages = [
            *(_of_regression(settings, team, check, regression) for regression in found),
            *_of_silences(team, check, before.silences, now.silences),
        ]
        if store.write_judgement(team, check.name, now, version=version):
            _send(settings, store, team, check, messages, taken_back=(version + 1, before))
            return len(messages)
    raise PlimsollError(f"{check.name}: {ATTEMPTS} others judged it meanwhile")


def _announcement(regression: Regression, points: Sequence[HistoryPoint]) -> Announced:
    return Announced(
        metric=regression.change.metric, at=regression.change.at, through=points[-1].scheduled_at
    )


def _of_regression(
    settings: JudgeCheckSettings, team: str, check: Check, regression: Regression
) -> Message:
    run_id = regression.change.run_id
    results = files_of(settings, run_id).address if run_id else None
    return message.of_regression(team, check.name, regression, results)


def _of_silences(
    team: str, check: Check, before: Sequence[Silence], now: Sequence[Silence]
) -> list[Message]:
    """Tell once of the metrics that have fallen silent, and once of those that have ended it."""
    known, silent = ({one.metric for one in some} for some in (before, now))
    compared = {compare.metric for compare in check.compare}
    fallen = [one for one in now if one.metric not in known]
    ended = [one for one in before if one.metric not in silent and one.metric in compared]
    told = [(message.of_silence, fallen), (message.of_recovery, ended)]
    return [tell(team, check.name, some) for tell, some in told if some]


def _send(
    settings: JudgeCheckSettings,
    store: CheckStore,
    team: str,
    check: Check,
    messages: Sequence[Message],
    *,
    taken_back: tuple[int, Judgement],
) -> None:
    """Send the messages. They are recorded as sent first, so that of two calls only one sends.

    If one cannot be sent, the record is taken back and the call fails, to be repeated.
    """
    try:
        for one in messages:
            clients.sns().publish(
                TopicArn=settings.alarm_topic_arn, Subject=one.subject, Message=one.text
            )
            emit(settings.event_bus, one.event)
    except Exception:
        version, before = taken_back
        store.write_judgement(team, check.name, before, version=version)
        raise

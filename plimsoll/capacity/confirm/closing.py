"""The closing steps: they test the answer after it is confirmed, and may change the verdict.

They run one kind after the other, within the search's limit of steps. They do not count as
repetitions of a load.
"""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll import words
from plimsoll.capacity.confirm.larger_fleet import drop_outgrown_steps
from plimsoll.capacity.confirm.next_loads import Wish
from plimsoll.capacity.confirm.probes import (
    judge_more_clients,
    judge_open_loop,
    judge_polling,
    plan_more_clients,
    plan_open_loop,
    plan_polling,
)
from plimsoll.capacity.confirm.soak import count_soak_windows, judge_soak, plan_soak_window
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.drift_and_waves import find_drift
from plimsoll.capacity.passing.verdict import Conclusion
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.closing import Closing, Drift, MoreClients, Soak, Waiting
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.request.search_request import Search

OPENINGS = 2  # steps at the lightest load, at least, to compare the sentinels with
SENTINELS = 2
TRIES_MAX = 4  # sentinel steps at most; an audit may dispute some


def split_closing_steps(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Separate the steps of the search, without void ones, from its closing steps.

    Steps that `drop_outgrown_steps` leaves out are in neither.
    """
    counted = drop_outgrown_steps(steps)
    return (
        [step for step in counted if step.void is None and step.purpose not in CLOSING],
        [step for step in counted if step.purpose in CLOSING],
    )


def count_openings(rules: Rules) -> int:
    """Return how often a search runs its lightest load at the start."""
    return OPENINGS if examines_drift(rules) else 1


def examines_drift(rules: Rules) -> bool:
    """Return whether drift is examined. It cannot be if nothing is repeated."""
    return rules.confirmation is not None and "drift" not in rules.audits_off


def plan_closing_step(search: Search, answer: Answer, *, left: int) -> Wish | None:
    """Return the next closing step; None if none is left, or there is no answer to test.

    Args:
        search: search of the request.
        answer: answer of the search.
        left: steps that the search may still take. Other closing steps leave those of a soak to it.
    """
    spare = left - max(0, count_soak_windows(answer.rules) - len(answer.find_tries("soak")))
    wish = _plan_sentinel(answer) if spare > 0 else None
    if wish is not None:
        return wish
    conclusion, _ = apply_closing_steps(answer)
    # Closing steps must not test an answer that an earlier one has revoked
    answer = answer.with_conclusion(conclusion)
    if answer.rules.confirmation is None:
        return plan_soak_window(answer)
    clients = plan_more_clients(search, answer) or plan_polling(answer) if spare > 0 else None
    return (
        clients
        or plan_soak_window(answer)
        or (plan_open_loop(search, answer) if spare > 0 else None)
    )


def _plan_sentinel(answer: Answer) -> Wish | None:
    """Return the lightest load again, unless it is the answer's, which was just repeated."""
    lightest, at = answer.judged[0], answer.at
    opened = len(lightest.point.counted) >= count_openings(answer.rules)
    if at is None or at is lightest or not opened or not examines_drift(answer.rules):
        return None
    if (
        len(answer.find_valid("sentinel")) >= SENTINELS
        or len(answer.find_tries("sentinel")) >= TRIES_MAX
    ):
        return None
    why = "the lightest load again, to see whether the target changed meanwhile"
    return Wish(lightest.point.load, "sentinel", why)


def apply_closing_steps(answer: Answer) -> tuple[Conclusion, Closing | None]:
    """Revise a conclusion by the results of the closing steps.

    Returns:
        The revised conclusion, and the results; None as results of an imported table of steps.
    """
    searched = any(r.step.purpose for load in answer.judged for r in load.point.repetitions)
    once = answer.rules.confirmation is None and not answer.rules.soak_s
    if not searched or answer.at is None or once or answer.conclusion.slowed:
        return answer.conclusion, None
    drifted = (
        find_drift(
            answer.judged,
            answer.find_valid("sentinel"),
            tried=bool(answer.find_tries("sentinel")),
        )
        if examines_drift(answer.rules)
        else None
    )
    conclusion = _apply_drift(answer.conclusion, drifted, answer.rules)
    answer = answer.with_conclusion(conclusion)
    more = judge_more_clients(answer) if answer.rules.confirmation is not None else None
    polled = judge_polling(answer) if answer.rules.confirmation is not None else None
    found = Closing(
        drift=drifted,
        more_clients=more,
        waiting=polled,
        open_loop=judge_open_loop(answer),
        soak=judge_soak(answer),
    )
    conclusion = _apply_more_clients(conclusion, more, "add clients")
    conclusion = _apply_more_clients(conclusion, polled, "let them busy-poll")
    return _apply_soak(conclusion, found.soak), found


def _apply_more_clients(
    conclusion: Conclusion, more: MoreClients | Waiting | None, remedy: str
) -> Conclusion:
    """Return CLIENT_BOUND if twice the clients, or busy-polling, raised the throughput."""
    if more is None or not more.raised or conclusion.at is None or conclusion.figure is None:
        return conclusion
    return Conclusion(
        "CLIENT_BOUND",
        bracket=(conclusion.at.point.load, None),
        causes=("client",),
        because=more.detail,
        remedy=remedy,
        notes=conclusion.notes,
    )


def _apply_soak(conclusion: Conclusion, soaked: Soak | None) -> Conclusion:
    """Return NOT_SUSTAINED if the answer's load failed in the soak; its figure is then too high."""
    if soaked is None or conclusion.at is None or conclusion.figure is None:
        return conclusion
    if soaked.passed is not False:
        unfinished = [] if soaked.passed else [f"the answer's load was {soaked.detail}"]
        return replace(conclusion, notes=[*conclusion.notes, *unfinished])
    return replace(
        conclusion,
        verdict="NOT_SUSTAINED",
        bound="<",
        bracket=(None, conclusion.at.point.load),
        causes=("soak",),
        because=soaked.detail,
    )


def _apply_drift(conclusion: Conclusion, drifted: Drift | None, rules: Rules) -> Conclusion:
    """Return DRIFTING if the target changed by more than repetitions may, else a wider interval."""
    if drifted is None or not drifted.found or drifted.change_share is None:
        return conclusion
    if abs(drifted.change_share) > rules.cv_max:
        return replace(
            conclusion,
            verdict="DRIFTING",
            figure=None,
            bound=None,
            causes=("drift",),
            because=drifted.detail,
        )
    sure, factor = conclusion.interval, 1 + abs(drifted.change_share)
    if sure is None or conclusion.figure is None:
        return replace(conclusion, notes=[*conclusion.notes, drifted.detail])
    wider = sure.model_copy(
        update={
            "low_ops_per_second": sure.low_ops_per_second / factor,
            "high_ops_per_second": sure.high_ops_per_second * factor,
            "method": f"{sure.method}, widened by a drift of {words.format_percent(factor - 1)}",
        }
    )
    figure = min(conclusion.figure, wider.low_ops_per_second)
    note = f"{drifted.detail}; the interval is widened by that"
    return replace(conclusion, figure=figure, interval=wider, notes=[*conclusion.notes, note])

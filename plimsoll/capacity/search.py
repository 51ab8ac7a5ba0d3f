"""Decides on the next step of a search, from the finished steps alone, anew at every call.

Every kind of search does the same: establish the baseline, climb until a step fails (or throughput
stops growing), narrow the bracket, repeat the failure that closes it, then *confirm* a load just
below it by repetitions. A load that is refuted is replaced by a lighter one; a failure that is not
reproduced, by a heavier one. Tools that stop after the bisection try each load once: with 10 %
noise they claim too much in a fifth of the runs or more, and a single bad window ends the search
(docs/evidence/search.md).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from plimsoll import words
from plimsoll.capacity.confirm.closing import (
    SENTINELS,
    count_openings,
    examines_drift,
    plan_closing_step,
    split_closing_steps,
)
from plimsoll.capacity.confirm.larger_fleet import find_client_limit
from plimsoll.capacity.confirm.next_loads import (
    LADDERS,
    Ladder,
    Wish,
    find_axis,
    find_longest_factor,
    make_next_step,
)
from plimsoll.capacity.confirm.probes import plan_larger_fleet
from plimsoll.capacity.confirm.soak import count_soak_windows
from plimsoll.capacity.confirm.toggled import count_remaining_steps, plan_toggle_step
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import (
    Assessed,
    assess_steps,
    estimate_latency_noise,
    is_known_light,
    is_relative,
)
from plimsoll.capacity.passing.verdict import Climb, climb_loads, decide_verdict
from plimsoll.capacity.statistics.order import OPERATIONS_MIN
from plimsoll.capacity.steps.debt import count_windows_for_wave, is_repaying
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import CLOSING, Statistic, Step
from plimsoll.model.request.search_request import Done, NextStep, Search, StepsSearch
from plimsoll.model.request.toggle import Toggle

__all__ = ["find_axis", "plan_next_step"]


# --- windows that were too short get more time before anything is concluded from them ---


FACTOR_MOST = 4  # factor on the request's warm-up and window where halves disagree
FEW_FACTOR_MOST = 16  # the same where a window holds too few operations for the statistic
SPARE_OPERATIONS = 1.2  # factor on the operations needed, since the next window may have fewer


def plan_longer_window(assessed: Assessed, statistic: Statistic) -> Wish | None:
    """Return a longer window at a load whose only fault is that its windows were too short."""
    longest = max(assessed.point.repetitions, key=lambda r: r.step.window_factor or 1)
    needed = count_windows_needed(longest.step, statistic)
    if assessed.doubtful and not assessed.reasons and longest.few:
        if needed <= (longest.step.window_factor or 1):
            return None
        return Wish(
            assessed.point.load,
            "again",
            f"too few operations for {words.name_statistic(statistic)}; repeated with"
            f" {needed} times the warm-up and window",
            window_factor=needed,
        )
    codes = {reason.code for reason in assessed.reasons}
    waves = count_windows_for_wave(longest.step)
    if codes <= {"log"} and waves is not None:
        return Wish(
            assessed.point.load,
            "again",
            f"the log only filled in its window; repeated with {waves} times the warm-up and"
            " window, to hold a whole wave",
            window_factor=waves,
        )
    factor = longest.step.window_factor or 1
    if codes and is_repaying(longest.step.debt) and factor < FACTOR_MOST:
        return Wish(
            assessed.point.load,
            "again",
            "it failed while the server wrote back what had filled the log; repeated with"
            f" {2 * factor} times the warm-up and window",
            window_factor=2 * factor,
        )
    unsteady = codes == {"unsteady"} or (not codes and assessed.doubtful)
    restless = [r for r in assessed.point.counted if r.restless]
    if not unsteady or not restless:
        return None
    factor = find_longest_factor([r.step for r in assessed.point.repetitions])
    if factor >= FACTOR_MOST:
        return None
    return Wish(
        assessed.point.load,
        "again",
        f"throughput differs between the halves of its window; repeated with {2 * factor} times the"
        " warm-up and window",
        window_factor=2 * factor,
    )


def count_windows_needed(step: Step, statistic: Statistic) -> int:
    """Return the multiple of the request's window that holds enough operations at a step's load."""
    counts = step.operation_counts.values()
    if not counts:
        return 1
    each = min(counts) / (step.window_factor or 1)
    least = SPARE_OPERATIONS * OPERATIONS_MIN[statistic]
    return min(FEW_FACTOR_MOST, max(1, math.ceil(least / each))) if each else FEW_FACTOR_MOST


BASELINE_REPETITIONS = 3  # repetitions of the baseline, whose noise shifts every relative limit
LIGHTER_MAX = 3  # halvings of the first load at most, to find a light one
AGAIN_MAX = 3  # attempts at a load whose figures audits dispute
DISTURBED_MAX = 6  # attempts if this machine disturbed some of them, which is temporary
LEFT_TO_CONFIRM = 8  # steps reserved for the confirmation
# Shortest search that keeps its last steps for the sentinels, once it has an answer that they can
# question: a search that a change of the target made long would have none left to see the change.
# Without an answer it goes on, since there is nothing to question.
KEPT_FROM = 2 * LEFT_TO_CONFIRM
NOISE_FACTOR = 1.3  # narrowest bracket, as a multiple of the noise
BACK_OFF = 0.5  # distance below the failure of the load to confirm, as a multiple of the noise
# Upper bound on the noise of the logarithm: three repetitions may show any by chance
NOISE_MOST = 0.2
LEAD = 2  # excess of failures over passes for a failure to be certain
DOUBTED_MAX = 6  # attempts at a load whose failure is in doubt
# A larger share of failures at the load below means that the edge is near
DOUBTED_FAILS_SHARE = 1 / 8
NEAR = 0.85  # share of the heaviest load that passed; lighter loads are left behind


def plan_next_step(
    search: Search,
    finished: Sequence[Step],
    rules: Rules,
    toggle: Toggle | None = None,
    *,
    seed: int = 1,
) -> NextStep | Done:
    """Return the load to apply next, or that the search is over.

    Args:
        search: search of the request.
        finished: every finished step of the run, in the order in which they ran.
        rules: rules by which `judge` will judge; `rules.confirmation` governs repetitions.
        toggle: two states of the target, to be measured in pairs after the answer is found.
        seed: seed of the request, which draws the order within the pairs.

    Returns:
        The next step, or `Done` after at most `probes_max` steps. The same arguments give the same
        result. A void step counts as one of them and is repeated.

    Raises:
        UsageError: A finished step cannot be judged; names the row and the column.
    """
    ladder = LADDERS[search.strategy](search)
    if len(finished) >= search.probes_max:
        return Done(why=f"all {search.probes_max} steps that search.probes_max allows are used")
    valid, closing = split_closing_steps(finished)
    if not valid:
        return make_next_step(
            search, finished, Wish(ladder.first, "baseline", "the lightest load"), []
        )
    assessment = assess_steps(valid, rules, ladder.axis)
    judged = assessment.judged
    budget = search.probes_max - count_soak_windows(rules) - (toggle.steps if toggle else 0)
    kept = SENTINELS if examines_drift(rules) and budget >= KEPT_FROM else 0
    left = budget - (len(finished) - len(closing))
    wish = _plan_load(search, ladder, judged, valid, rules, left=left)
    conclusion = decide_verdict(judged, rules, ladder.axis, baseline=assessment.baseline)
    if left <= 0:
        wish = Done(why=f"all {budget} steps that search.probes_max leaves are used")
    elif left <= kept and conclusion.figure is not None and not conclusion.slowed:
        wish = Done(why=f"the last {kept} steps question the answer")
    if isinstance(wish, Done) and not conclusion.slowed:
        client_limit = find_client_limit(finished)
        answer = Answer(judged, conclusion, rules, assessment.limit_us, closing, client_limit)
        spare = search.probes_max - len(finished) - count_remaining_steps(toggle, finished)
        wish = (
            plan_closing_step(search, answer, left=spare)
            or plan_larger_fleet(search, answer, left=left - len(closing))
            or plan_toggle_step(toggle, answer, seed)
            or wish
        )
    if isinstance(wish, Done):
        return wish
    if wish.purpose not in CLOSING and "enough_operations" not in rules.audits_off:
        lighter = [step for step in valid if getattr(step, ladder.axis) <= wish.load]
        needed = min(count_windows_needed(step, rules.statistic) for step in lighter or valid)
        wish = replace(wish, window_factor=max(wish.window_factor, needed))
    return make_next_step(search, finished, wish, judged)


def _plan_load(
    search: Search,
    ladder: Ladder,
    judged: Sequence[Assessed],
    finished: Sequence[Step],
    rules: Rules,
    *,
    left: int,
) -> Wish | Done:
    """Return the step that the first incomplete phase of the search needs."""
    way = climb_loads(judged, rules, closed_loop=ladder.axis != "rate_ops_per_second")
    return (
        plan_longer_window(_plan_last_load(judged, finished, ladder), rules.statistic)
        or _repeat_disputed(judged, finished, ladder)
        or _relieve_clients(search, judged, finished, ladder)
        or _plan_baseline(ladder, judged, rules)
        or _plan_bracket(search, ladder, judged, way, left=left)
        or _confirm(ladder, judged, way, rules)
    )


def _plan_last_load(
    judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder
) -> Assessed:
    load = float(getattr(finished[-1], ladder.axis))
    return next(assessed for assessed in judged if assessed.point.load == load)


def _repeat_disputed(
    judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder
) -> Wish | Done | None:
    """Return a repetition of a load that audits dispute entirely, up to a maximum of attempts."""
    last = _plan_last_load(judged, finished, ladder)
    if last.failed or (last.point.consistent and not last.doubtful):
        return None  # a load that fails needs no repetition to show that it does not pass
    lighter = [load for load in judged if load.point.load <= last.point.load]
    heavier = ladder.up(last.point.load)
    if (
        heavier is not None
        and last.passed_slowed
        and any(map(_is_given_up, lighter))  # so the machine is never calm for long
        and not any(load.failed for load in judged)
    ):
        return Wish(heavier, "climb", "all lighter loads passed, even on a busy machine")
    if not _is_given_up(last) and not (last.doubtful and len(last.point.counted) >= AGAIN_MAX):
        return Wish(last.point.load, "again", _explain_repetition(last))
    return Done(
        why=f"no step at {words.format_load(last.point.load, ladder.axis)} counts, after all"
        " attempts"
    )


def _explain_repetition(assessed: Assessed) -> str:
    """Describe why the last step at a load does not count, and the attempt that follows."""
    last = assessed.point.repetitions[-1]
    failed = [audit.detail for audit in last.audits if audit.passed is False]
    why = failed[0] if failed else "the target had not recovered from the overload before it"
    most = DISTURBED_MAX if last.disturbed else AGAIN_MAX
    attempt = min(len(assessed.point.repetitions) + 1, most)
    return f"the last step does not count: {why}. Attempt {attempt} of {most}"


def _is_given_up(assessed: Assessed) -> bool:
    """Return whether a load had so many attempts without result that it is left as it is."""
    disturbed = sum(repetition.disturbed for repetition in assessed.point.repetitions)
    others = assessed.said_nothing - disturbed
    return others >= AGAIN_MAX or assessed.said_nothing >= DISTURBED_MAX


def _relieve_clients(
    search: Search, judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder
) -> Wish | Done | None:
    """Return the load with more clients if the clients were the limit."""
    last = _plan_last_load(judged, finished, ladder)
    reason = last.point.client_bound
    if reason is None:
        return None
    if isinstance(search, StepsSearch):
        higher = ladder.up(last.point.load)
        if last.passed and higher is not None:
            return None  # the next step of the list has more clients
        return Done(why=f"{reason}; the list has no step with more clients at this load")
    clients = max(step.clients or 1 for step in finished)
    room = (
        min(search.clients_max, int(last.point.load))
        if ladder.axis == "connections"
        else (search.clients_max)
    )
    if clients < room:
        return Wish(last.point.load, "more_clients", reason, more_clients=True)
    return Done(why=f"{reason}; no more clients are allowed")


def _plan_baseline(ladder: Ladder, judged: Sequence[Assessed], rules: Rules) -> Wish | None:
    """Return a load or repetition for the baseline, the base of every relative limit."""
    lightest = judged[0]
    relative = is_relative(lightest, rules)
    if rules.confirmation and relative and not lightest.failed:
        lower = ladder.down(lightest.point.load) if _may_go_lighter(ladder, judged) else None
        if lower and is_known_light(judged, rules, ladder.axis) is False:
            return Wish(
                lower,
                "baseline",
                "latency grows already at the lightest load; a lighter one is needed as the"
                " baseline",
            )
    wanted = BASELINE_REPETITIONS if rules.confirmation and relative else count_openings(rules)
    enough = len(lightest.point.counted) >= wanted or _is_given_up(lightest)
    if not enough and not lightest.failed:
        return Wish(
            lightest.point.load,
            "baseline",
            "repeats the lightest load, whose latency sets the limits of the others",
        )
    return None


def _may_go_lighter(ladder: Ladder, judged: Sequence[Assessed]) -> bool:
    """Return whether the search has just begun; later, a new baseline would change all limits."""
    lighter = sum(load.point.load < ladder.first for load in judged)
    begun = (r.step.purpose for load in judged for r in load.point.repetitions)
    return lighter < LIGHTER_MAX and not {"bisect", "confirm"} & set(begun)


def _plan_bracket(
    search: Search, ladder: Ladder, judged: Sequence[Assessed], way: Climb, *, left: int
) -> Wish | Done | None:
    """Return the next load to climb, descend or bisect until the bracket is narrow enough."""
    failing = way.failing
    whole_list = isinstance(search, StepsSearch) and search.whole_list
    beyond = ladder.up(judged[-1].point.load) if whole_list else None
    if failing is None and way.plateau:
        return (
            Wish(beyond, "climb", "search.whole_list asks for the rest of the list")
            if beyond
            else None
        )
    if failing is None:
        higher = ladder.up(way.passing[-1].point.load)
        return Wish(higher, "climb", "all lighter loads passed") if higher else None
    load = failing.point.load
    failed = f"{words.format_load(load, ladder.axis)} failed"
    if way.passing:
        low = way.passing[-1].point.load
        middle = ladder.between(low, load) if left > LEFT_TO_CONFIRM else None
        if middle and _is_wide(low, load, ladder, judged):
            return Wish(middle, "bisect", f"{words.format_number(low)} passed, {failed}")
    if not way.believed and not _is_given_up(failing):
        return Wish(load, "again", "repeats the load that failed, since the answer depends on it")
    if not way.passing:
        lower = ladder.down(load)
        lightest = Done(why=f"the lightest load, {words.format_load(load, ladder.axis)}, fails")
        return Wish(lower, "descend", failed) if lower else lightest
    return (
        Wish(beyond, "climb", "search.whole_list asks for the rest of the list") if beyond else None
    )


def _is_wide(low: float, high: float, ladder: Ladder, judged: Sequence[Assessed]) -> bool:
    """Return whether a bracket is wider than requested, and wider than the noise can resolve."""
    return (high - low) / high > max(ladder.resolution, NOISE_FACTOR * _estimate_noise(judged))


def _estimate_noise(judged: Sequence[Assessed]) -> float:
    """Return the noise of the latencies of loads that passed twice or more."""
    return min(NOISE_MOST, estimate_latency_noise(judged))


def _confirm(ladder: Ladder, judged: Sequence[Assessed], way: Climb, rules: Rules) -> Wish | Done:
    """Return a repetition of the answer's load until it is confirmed or refuted."""
    chosen = way.lightest_of_plateau() if way.plateau else way.passing[-1]
    name = words.format_load(chosen.point.load, ladder.axis)
    if rules.confirmation is None:
        return Done(why=f"{name} passed")
    fallen = None if way.plateau else way.before_it_fell()
    if fallen is not None:
        chosen = fallen
    elif way.failing and not way.plateau:
        begun = [load for load in way.passing if _is_being_confirmed(load, chosen)]
        safe = _choose_load_to_confirm(ladder, judged, way)
        if not begun and safe is not None:
            return Wish(
                safe,
                "confirm",
                f"{name} passed, but so close to the load that failed that noise may have decided",
            )
        chosen = begun[-1] if begun else chosen
    name = words.format_load(chosen.point.load, ladder.axis)
    if chosen.confirmed:
        return _repeat_doubted(chosen, way) or Done(why=f"{name} is confirmed")
    if _is_given_up(chosen):
        return Done(why=f"too many steps at {name} failed an audit")
    count = len(chosen.point.counted)
    return Wish(
        chosen.point.load, "confirm", f"{chosen.passes} of {count} repetitions passed so far"
    )


def _repeat_doubted(confirmed: Assessed, way: Climb) -> Wish | None:
    """Return a repetition of a failure that was seen only twice, which may be two bad windows.

    In some clouds one window in twenty is bad, and a climb takes many windows. If the load below
    nearly always passed, the failure is repeated until failures lead by two. If passes catch up,
    the load passes and the climb goes on.
    """
    failing = way.failing
    if failing is None or failing.fails + failing.passes >= DOUBTED_MAX or _is_given_up(failing):
        return None
    near_the_edge = confirmed.fails > DOUBTED_FAILS_SHARE * len(confirmed.point.counted)
    led = not failing.passes or failing.fails >= failing.passes + LEAD
    if near_the_edge or (way.seen > 2 and led):
        return None
    return Wish(
        failing.point.load,
        "again",
        "repeats the load that failed: two bad windows may have decided",
    )


def _is_being_confirmed(load: Assessed, heaviest: Assessed) -> bool:
    """Return whether a passing load is being confirmed and the climb has not passed it since."""
    return load.being_confirmed and load.point.load >= NEAR * heaviest.point.load


def _choose_load_to_confirm(ladder: Ladder, judged: Sequence[Assessed], way: Climb) -> float | None:
    """Return the load to confirm: the failing load less the noise, but above what is certain.

    If no steps were left to narrow the bracket, this may be a load that was never tried.

    Returns:
        None if that is the heaviest load that passed.
    """
    assert way.failing is not None  # noqa: S101 - callers check it
    low, high = way.passing[-1].point.load, way.failing.point.load
    sure = way.passing[-2].point.load if len(way.passing) > 1 else 0.0
    below = high * math.exp(-BACK_OFF * _estimate_noise(judged))
    wide = _is_wide(low, high, ladder, judged)
    safe = ladder.near(max(low, below) if wide else min(low, below))
    return safe if safe is not None and sure < safe < high and safe != low else None

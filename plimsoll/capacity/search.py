"""Which step comes next, computed from the finished steps anew at every call.

Every strategy goes the same way: it establishes the baseline, climbs until a step fails (or
throughput stops growing), narrows the bracket, then *confirms* the heaviest load that passed by
repeating it. A load that does not hold is given up for the next lighter one. Other tools stop after
the bisection and try each load once: under 10 % noise that claims too much in a fifth of the runs
or more (docs/method.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.assess import Assessed, assess, limits
from plimsoll.capacity.intervals import pooled_noise
from plimsoll.capacity.ladders import LADDERS, Ladder, axis_of
from plimsoll.capacity.loads import gather
from plimsoll.capacity.verdict import Climb, climb
from plimsoll.model.capacity import Rules
from plimsoll.model.search_request import (
    Done,
    NextStep,
    Purpose,
    RampSearch,
    Search,
    StepsSearch,
)
from plimsoll.model.steps import Step

__all__ = ["axis_of", "next_step"]

BASELINE_REPETITIONS = 3  # its noise moves every relative limit
AGAIN_GAP = 0.25  # a failure that would cost more than this is repeated before it is believed
AGAIN_MAX = 3  # tries at a load whose figures the audits dispute
DISTURBED_MAX = 6  # the same where this machine disturbed it, which does not last
MORE_CLIENTS = 1.5
LEFT_TO_CONFIRM = 8  # probes
BACK_OFF = 0.5  # times the noise: how far below the bracket the load to confirm lies
NOISE_FACTOR = 0.5


@dataclass(frozen=True, slots=True)
class Wish:
    """A load to apply, before it is made a step."""

    load: float
    purpose: Purpose
    why: str
    more_clients: bool = False


def next_step(search: Search, finished: Sequence[Step], rules: Rules) -> NextStep | Done:
    """Say which load to apply next, or that the search is over.

    Args:
        search: what the request asks for.
        finished: every finished step of the run, in the order in which they ran.
        rules: the rules by which `judge` will judge; `rules.confirmation` governs repetitions.

    Returns:
        The same answer for the same arguments. After at most `probes_max` steps it is `Done`. A
        void step is one of them, and is asked for again.

    Raises:
        UsageError: a finished step cannot be judged; names the row and the column.
    """
    ladder = LADDERS[search.strategy](search)
    if len(finished) >= search.probes_max:
        return Done(why=f"all {search.probes_max} probes are spent")
    valid = [step for step in finished if step.void is None]
    if not valid:
        return _step(search, finished, Wish(ladder.first, "baseline", "the lightest load"), [])
    points = gather(valid, rules, ladder.axis)
    judged = assess(points, rules, limits(points, rules))
    wish = _wish(search, ladder, judged, valid, rules, left=search.probes_max - len(finished))
    return wish if isinstance(wish, Done) else _step(search, finished, wish, judged)


def _wish(
    search: Search,
    ladder: Ladder,
    judged: Sequence[Assessed],
    finished: Sequence[Step],
    rules: Rules,
    *,
    left: int,
) -> Wish | Done:
    """Go through the phases in their order; the first that lacks something asks for it."""
    way = climb(judged, rules, closed_loop=ladder.axis != "rate_ops_per_second")
    return (
        _repeat_disputed(judged, finished, ladder)
        or _relieve_clients(search, judged, finished, ladder)
        or _baseline(judged, rules)
        or _bracket(search, ladder, judged, way, left=left)
        or _confirm(ladder, judged, way, rules, left=left)
    )


def _of_last(judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder) -> Assessed:
    load = float(getattr(finished[-1], ladder.axis))
    return next(assessed for assessed in judged if assessed.point.load == load)


def _repeat_disputed(
    judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder
) -> Wish | Done | None:
    """Repeat a step that the audits dispute, for it says nothing; but not for ever."""
    last = _of_last(judged, finished, ladder)
    if last.point.consistent and not last.doubtful:
        return None
    tries = len(last.point.repetitions)
    disturbed = all(repetition.disturbed for repetition in last.point.repetitions)
    if tries < (DISTURBED_MAX if disturbed else AGAIN_MAX):
        return Wish(last.point.load, "again", "the audits dispute this step")
    return Done(why=f"the audits dispute every step at {words.load(last.point.load, ladder.axis)}")


def _relieve_clients(
    search: Search, judged: Sequence[Assessed], finished: Sequence[Step], ladder: Ladder
) -> Wish | Done | None:
    """Add clients where they were the limit, for such a load says nothing of the target."""
    last = _of_last(judged, finished, ladder)
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


def _baseline(judged: Sequence[Assessed], rules: Rules) -> Wish | None:
    """Repeat the lightest load: every relative limit is a multiple of its latency."""
    lightest = judged[0]
    names = lightest.point.figures.latency_us
    relative = any(name not in rules.limits_us for name in names)
    wanted = BASELINE_REPETITIONS if rules.confirmation and relative else 1
    if len(lightest.point.counted) < wanted and not lightest.failed:
        return Wish(lightest.point.load, "baseline", "its latency is the measure of the others")
    return None


def _bracket(
    search: Search, ladder: Ladder, judged: Sequence[Assessed], way: Climb, *, left: int
) -> Wish | Done | None:
    """Climb, descend or bisect until a passing and a failing load lie close enough."""
    failing = way.failing
    whole_list = isinstance(search, StepsSearch) and search.whole_list
    beyond = ladder.up(judged[-1].point.load) if whole_list else None
    if failing is None and way.plateau:
        return Wish(beyond, "climb", "the whole list is wanted") if beyond else None
    if failing is None:
        higher = ladder.up(way.passing[-1].point.load)
        return Wish(higher, "climb", "all lighter loads passed") if higher else None
    load = failing.point.load
    failed = f"{words.load(load, ladder.axis)} failed"
    low = way.passing[-1].point.load if way.passing else 0.0
    tries = len(failing.point.counted)
    if failing.fails < 2 and tries < AGAIN_MAX and (load - low) / load > AGAIN_GAP:
        return Wish(load, "again", "one failure would cost much: is it true?")
    if not way.passing:
        lower = ladder.down(load)
        lightest = Done(why=f"the lightest load, {words.load(load, ladder.axis)}, fails")
        return Wish(lower, "descend", failed) if lower else lightest
    if beyond is not None:
        return Wish(beyond, "climb", "the whole list is wanted")
    wide = (load - low) / load > max(ladder.resolution, NOISE_FACTOR * _noise(judged))
    middle = ladder.between(low, load) if wide and left > LEFT_TO_CONFIRM else None
    return Wish(middle, "bisect", f"{words.number(low)} passed, {failed}") if middle else None


def _noise(judged: Sequence[Assessed]) -> float:
    """Noise of the latencies of the loads that passed (`pooled_noise`)."""
    points = [assessed.point for assessed in judged if assessed.passed]
    return pooled_noise(
        [r.figures.latency_us[name] for r in point.counted if name in r.figures.latency_us]
        for point in points
        for name in point.figures.latency_us
    )


def _confirm(
    ladder: Ladder, judged: Sequence[Assessed], way: Climb, rules: Rules, *, left: int
) -> Wish | Done:
    """Repeat the load of the answer until it is confirmed or refuted."""
    chosen = way.plateau[0] if way.plateau else way.passing[-1]
    if rules.confirmation is None:
        return Done(why=f"{words.load(chosen.point.load, ladder.axis)} passed")
    begun = [assessed for assessed in way.passing[1:] if len(assessed.point.counted) > 1]
    if begun and not way.plateau:
        chosen = begun[-1]
    elif way.failing and not way.plateau:
        back_off = BACK_OFF if left > LEFT_TO_CONFIRM else 2 * BACK_OFF
        low = way.passing[-2].point.load if len(way.passing) > 1 else 0.0
        safe = ladder.near(chosen.point.load * math.exp(-back_off * _noise(judged)))
        if safe is not None and low < safe < chosen.point.load:
            passed = f"{words.load(chosen.point.load, ladder.axis)} passed"
            return Wish(safe, "confirm", f"{passed}; this is lighter by the noise")
    if chosen.confirmed:
        return Done(why=f"{words.load(chosen.point.load, ladder.axis)} is confirmed")
    count = len(chosen.point.counted)
    return Wish(chosen.point.load, "confirm", f"{chosen.passes} of {count} passed so far")


def _step(
    search: Search, finished: Sequence[Step], wish: Wish, judged: Sequence[Assessed]
) -> NextStep:
    """Turn a load into a step: how many clients, connections, and whether to recover first."""
    rate = wish.load if search.strategy == "rate" else None
    clients, connections = _fleet(search, finished, wish)
    last = finished[-1] if finished else None
    overloads = [step for assessed in judged for step in assessed.overloads]
    return NextStep(
        index=len(finished),
        clients=clients,
        connections=connections,
        rate_ops_per_second=rate,
        purpose=wish.purpose,
        recover_first=last is not None
        and (last.void is not None or any(step is last for step in overloads)),
        why=wish.why,
    )


def _fleet(search: Search, finished: Sequence[Step], wish: Wish) -> tuple[int, int]:
    """Clients and connections for a load; clients that were added once stay."""
    if isinstance(search, StepsSearch):
        clients = int(wish.load)
        return clients, clients * search.connections_per_client
    same = [s.clients for s in finished if getattr(s, axis_of(search)) == wish.load and s.clients]
    before = max(same or [step.clients or 1 for step in finished], default=1)
    if wish.more_clients:
        before = min(search.clients_max, max(before + 1, int(before * MORE_CLIENTS)))
    if isinstance(search, RampSearch):
        connections = int(wish.load)
        clients = max(before, math.ceil(connections / search.connections_per_client))
        return min(clients, search.clients_max, connections), connections
    clients = max(before, search.clients)
    return clients, clients * search.connections_per_client

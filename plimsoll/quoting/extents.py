"""How long a run takes and what it uses, estimated beforehand: least, expected, most. Pure.

Nothing here has been measured on AWS yet: each figure is an assumption, which the quote names.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll import words
from plimsoll.capacity.confirm.soak import SPARE_TRIES, count_soak_windows
from plimsoll.model.metric_periods import compute_longest_wait_s, compute_mean_wait_s
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.load_request import RELAY_EARLY_S
from plimsoll.model.request.phases import count_phase_steps, passes
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import max_clients
from plimsoll.model.run.quote import QuotePhase
from plimsoll.model.timings import (
    AWS_TIMINGS,
    METRICS_ARRIVAL,
    RELAY_LOOK_S,
    count_refused_calls,
)
from plimsoll.quoting import times
from plimsoll.quoting.charges import CLIENT_GIB, Extent
from plimsoll.quoting.times import (
    NO_TIME,
    Rehearsed,
    count_lightest_step_clients,
    estimate_phases,
    estimate_provision,
    estimate_teardown,
    estimate_writing_iops,
    list_pass_clients,
    rehearse,
    state_pairs,
    state_soak,
)
from plimsoll.requests.checked_request import CheckedRequest

JUDGING_S = 15.0  # write the results, judge the step, plan the next one
_WRITING_S = 3.0  # time in which a client writes its results, after its load
_SCHEMA_AND_COUNT_S = (60.0, 900.0)
_ROWS_PER_IO = (5.0, 1.0)  # while loading: expected, at worst
_ROWS_MOST_PER_S = (20_000.0, 5_000.0)  # limit for any volume: expected, at worst

FUNCTION_GIB_S = 60.0  # all calls that a run makes once
FUNCTION_GIB_S_PER_STEP = 25.0  # plan and judge a step
FUNCTION_GIB_S_PER_POLL = 0.5
METRICS = 20.0


@dataclass(frozen=True)
class Duration:
    """How long a run's phases take, and how many steps it has.

    Attributes:
        phases: The phases, in order.
        steps: The least, expected and highest number of steps.
        step_s: The duration of one step's load, with its warm-up.
        rehearsed: The steps that the search needs against noiseless databases.
        soak_steps: The highest number of windows of the soak.
        soak_step_s: The duration of one such window; the first has a warm-up besides.
        before: The expected number of steps before the search, in phases.
        searches: The request of each phase that searches, and how long it takes.
    """

    phases: tuple[QuotePhase, ...]
    steps: tuple[float, float, float]
    step_s: float
    rehearsed: Rehearsed
    soak_steps: int
    soak_step_s: float
    before: float
    searches: "tuple[tuple[Request, Duration], ...]"

    @property
    def first_step_s(self) -> float:
        """Seconds until the first step is expected to have been judged."""
        seconds = {phase.name: phase.expected_s for phase in self.phases}
        each = seconds["search"] / (self.steps[1] - self.before)
        passes_s = seconds.get("phases", 0.0)
        return seconds["provision"] + seconds["prepare"] + seconds["warm"] + passes_s + each


def _estimate_duration(request: Request, rows: int, searching: Sequence[Request]) -> Duration:
    """Estimate how long a run takes that loads its dataset.

    Args:
        request: What is asked for.
        rows: The number of rows of the dataset, over all tables.
        searching: The request of each phase that searches.
    """
    made = request.target.provisioned
    rehearsed = rehearse(request.search, request.limits)
    beside = request.steps_beside
    rehearsed = replace(rehearsed, steps=rehearsed.steps + beside)
    step_s = request.load.warmup_s + request.load.duration_s
    most_clients = max_clients(request.search) + request.clients_beside
    probes = request.search.probes_max + beside
    wait_mean, wait_most = _estimate_period_waits_s(request)
    clients = rehearsed.clients + request.clients_beside
    each = step_s + JUDGING_S + AWS_TIMINGS.lead_s(clients) + wait_mean
    slowest = step_s + JUDGING_S + AWS_TIMINGS.lead_s(most_clients) + wait_most
    soak_steps = count_soak_windows(request.limits)
    soak_step_s = request.limits.soak_s / max(1, soak_steps)
    longer_s = request.load.warmup_s + soak_step_s - step_s if soak_steps else 0.0
    # only the first window of a soak is planned, started and warmed up
    follows_s = max(0.0, rehearsed.soak_steps - 1) * (each - step_s + request.load.warmup_s)
    load_expected, load_most = (_estimate_loading_s(request, rows, way) for way in (0, 1))
    warm_s = request.prepare.warm_s
    overhead = AWS_TIMINGS.lead_s(0) + JUDGING_S if warm_s else 0.0
    rounds = max(1, int(request.prepare.warm_longest_s // warm_s)) if warm_s else 1
    count = rehearsed.steps + times.count_toggle_steps(request)
    arrival = METRICS_ARRIVAL if made else NO_TIME
    searches = tuple((one, _estimate_duration(one, rows, ())) for one in searching)
    of_searches = [p for _, each in searches for p in each.phases if p.name == "search"]
    of_phases = estimate_phases(request, JUDGING_S, of_searches)
    phases = (
        estimate_provision(request.target),
        QuotePhase(
            name="prepare",
            expected_s=load_expected + _SCHEMA_AND_COUNT_S[0],
            most_s=load_most + _SCHEMA_AND_COUNT_S[1],
            assumption=f"{rows:,} rows at 5 rows per I/O and at most 20,000 rows/s, at worst one"
            " row per I/O and 5,000 rows/s; indexes, counting and settling take a minute, 15 at"
            " worst",
        ),
        QuotePhase(
            name="warm",
            expected_s=warm_s + overhead,
            most_s=rounds * (warm_s + overhead),
            assumption=f"prepare.warm_s and {words.format_duration(overhead)} to start and end; at"
            " worst"
            f" {words.format_count(rounds, 'round')} of it until writes settle",
        ),
        *([of_phases] if of_phases else []),
        QuotePhase(
            name="search",
            expected_s=count * each
            + rehearsed.soak_steps * longer_s
            - follows_s
            + times.estimate_toggle_s(request),
            most_s=probes * (slowest + request.load.recovery_max_s)
            + (soak_steps + SPARE_TRIES) * max(0.0, longer_s)
            + times.estimate_most_toggle_s(request),
            assumption=f"{words.format_count(round(rehearsed.steps), 'step')} of"
            f" {words.format_duration(each)},"
            f" as many as the search takes without noise{state_pairs(request)}"
            f"{_state_waiting(request)}"
            f"{state_soak(request)}{times.state_toggle(request)}; at"
            f" worst probes_max = {request.search.probes_max}{' and the pairs' * bool(beside)},"
            " each after load.recovery_max_s",
        ),
        QuotePhase(
            name="conclude",
            expected_s=arrival.expected_s,
            most_s=arrival.most_s,
            assumption=f"CloudWatch's metrics arrive late: {METRICS_ARRIVAL.in_minutes}"
            if made
            else "an endpoint's metrics are not read",
        ),
        estimate_teardown(request.target),
    )
    done = len(passes(request.phases))
    before = done + sum(length.steps[1] for _, length in searches)
    most_before = count_phase_steps(request.phases)
    steps = (done + len(searches) + 1.0, before + count, float(most_before + probes))
    return Duration(phases, steps, step_s, rehearsed, soak_steps, soak_step_s, before, searches)


def _estimate_period_waits_s(request: Request) -> tuple[float, float]:
    """Seconds that a step waits so that its window holds whole minutes: on average, at most."""
    if not request.target.provisioned:
        return 0.0, 0.0
    asked = request.load.warmup_s, request.load.duration_s, AWS_TIMINGS.metric_period_s
    return compute_mean_wait_s(*asked), compute_longest_wait_s(*asked)


def _state_waiting(request: Request) -> str:
    mean, longest = _estimate_period_waits_s(request)
    if not longest:
        return ""
    return (
        f", {words.format_duration(mean)} of it, {words.format_duration(longest)} at worst, until"
        " its window"
        " holds whole minutes of CloudWatch"
    )


def _estimate_loading_s(request: Request, rows: int, way: int) -> float:
    """Seconds that loading takes: the volumes' or the processor's, whichever is slower."""
    return rows / min(_ROWS_MOST_PER_S[way], _ROWS_PER_IO[way] * estimate_writing_iops(request))


def estimate_longest_target_s(request: Request) -> float:
    """Return the longest time for which a target may exist: its time limit and its deletion."""
    return request.time_limit_s + estimate_teardown(request.target).most_s


def estimate_least(request: Request, length: Duration) -> Extent:
    """Return the least that a run uses: one step of the lightest load, and the target with it."""
    target_s = length.step_s if request.target.provisioned else 0.0
    clients = count_lightest_step_clients(request.search) + request.clients_beside
    return compute_extent(
        target_s=target_s,
        loading_client_s=0,
        step_clients=[(clients, bill_client_s(length.step_s, clients))],
        polls=0,
    )


def estimate_expected(request: Request, length: Duration) -> Extent:
    """Return what a run uses if the assumptions hold."""
    seconds = {phase.name: phase.expected_s for phase in length.phases}
    made = request.target.provisioned
    return compute_extent(
        target_s=min(math.fsum(seconds.values()), estimate_longest_target_s(request))
        if made
        else 0.0,
        loading_client_s=request.prepare.clients * seconds["prepare"],
        step_clients=[
            *_list_expected_steps(request, length),
            *(each for of_phase in length.searches for each in _list_expected_steps(*of_phase)),
            *((n, bill_client_s(s, n)) for n, s in list_pass_clients(request, at_worst=False)),
            (1, bill_client_s(seconds["warm"], 1)),
        ],
        polls=(seconds["provision"] + seconds["conclude"] + seconds["teardown"])
        / AWS_TIMINGS.poll_s,
        relayed=_count_relayed(
            request, length.rehearsed.soak_steps, length.rehearsed.clients + request.clients_beside
        ),
    )


def _list_expected_steps(request: Request, length: Duration) -> list[tuple[float, float]]:
    """Return the clients of each step of a search, and for how many seconds each is charged."""
    rehearsed = length.rehearsed
    count, soaked = math.ceil(rehearsed.steps), round(rehearsed.soak_steps)
    toggled, toggled_s = times.count_toggle_steps(request), length.step_s + request.prepare.warm_s
    clients = rehearsed.clients + request.clients_beside
    return (
        [(clients, bill_client_s(length.step_s, clients))] * (count - soaked)
        + _list_soak_windows(request, length, soaked, clients)
        + [(clients, bill_client_s(toggled_s, clients))] * toggled
    )


def estimate_most(request: Request, length: Duration) -> Extent:
    """Return what a run uses up to its time limit, with the most clients in every step."""
    seconds = {phase.name: phase.most_s for phase in length.phases}
    loading_s = min(seconds["prepare"], request.time_limit_s)
    warm_s = bill_client_s(seconds["warm"], 1)
    steps = [
        *_list_most_steps(request, length),
        *(each for of_phase in length.searches for each in _list_most_steps(*of_phase)),
        *((n, bill_client_s(s, n)) for n, s in list_pass_clients(request, at_worst=True)),
    ]
    return compute_extent(
        target_s=estimate_longest_target_s(request) if request.target.provisioned else 0.0,
        loading_client_s=request.prepare.clients * loading_s,
        step_clients=[*_cut_to_time_limit(steps, request.time_limit_s), (1, warm_s)],
        polls=(seconds["provision"] + seconds["conclude"] + seconds["teardown"])
        / AWS_TIMINGS.poll_s,
        relayed=_count_relayed(
            request,
            length.soak_steps + SPARE_TRIES,
            max_clients(request.search) + request.clients_beside,
        ),
    )


def _list_most_steps(request: Request, length: Duration) -> Sequence[tuple[float, float]]:
    """Return the same at worst."""
    clients = max_clients(request.search) + request.clients_beside
    probes = request.search.probes_max + request.steps_beside
    count = min(probes, math.floor(request.time_limit_s / (length.step_s + JUDGING_S)))
    soaked = length.soak_steps + SPARE_TRIES if length.soak_steps else 0
    return (
        [(clients, bill_client_s(length.step_s, clients))] * max(count, 1)
        + _list_soak_windows(request, length, soaked, clients)
        + [(clients, bill_client_s(request.prepare.warm_s, clients))]
        * times.count_toggle_steps(request)
    )


def _list_soak_windows(
    request: Request, length: Duration, count: int, clients: float
) -> list[tuple[float, float]]:
    """Return the clients of each window of a soak, and for how many seconds each is charged.

    The first window has a warm-up, and spare ones may have.
    """
    window_s, warmup_s = length.soak_step_s, request.load.warmup_s
    warmed = min(count, 1 + SPARE_TRIES)
    return [(clients, bill_client_s(warmup_s + window_s, clients))] * warmed + [
        (clients, bill_client_s(RELAY_EARLY_S + window_s, clients))
    ] * (count - warmed)


def _count_relayed(request: Request, windows: float, clients: float) -> tuple[float, float]:
    """Return the clients of all windows of a relay, and their seconds together."""
    count = count_soak_windows(request.limits)
    if count < 2:
        return 0.0, 0.0
    return windows * clients, windows * clients * request.limits.soak_s / count


def _cut_to_time_limit(
    steps: Sequence[tuple[float, float]], time_limit_s: float
) -> Iterator[tuple[float, float]]:
    """Yield the steps that fit the time limit, one after another, those with most clients first."""
    left_s = time_limit_s
    for clients, seconds in sorted(steps, reverse=True):
        if left_s > 0:
            yield clients, min(seconds, left_s)
        left_s -= seconds


def bill_client_s(load_s: float, clients: float) -> float:
    """Return the seconds for which a client is charged: it also waits for the barrier."""
    return load_s + AWS_TIMINGS.lead_s(clients) + _WRITING_S


def compute_extent(
    *,
    target_s: float,
    loading_client_s: float,
    step_clients: Iterable[tuple[float, float]],
    polls: float,
    relayed: tuple[float, float] = (0.0, 0.0),
) -> Extent:
    """Compute what a run uses.

    Args:
        target_s: The seconds for which the target exists.
        loading_client_s: The seconds of all loaders together.
        step_clients: The clients of each step, and for how many seconds each of them runs.
        polls: The number of times that the target's stack is looked at.
        relayed: The clients of all windows of relays, and their seconds together. Each waits and
            takes turns, and looks now and then whether its run has ended.
    """
    steps = list(step_clients)
    count = len(steps)
    clients = math.fsum(number for number, _ in steps)
    seconds = math.fsum(number * each for number, each in steps) + loading_client_s
    calls = 15 + 2 * count + clients + polls
    refused = math.fsum(count_refused_calls(number) for number, _ in steps)  # each is a transition
    return Extent(
        target_s=target_s,
        client_gib_s=seconds * CLIENT_GIB,
        function_gib_s=FUNCTION_GIB_S
        + FUNCTION_GIB_S_PER_STEP * count
        + FUNCTION_GIB_S_PER_POLL * polls,
        invocations=calls,
        transitions=20 + 5 * count + 4 * clients + 2 * relayed[0] + 3 * polls + refused,
        writes=2 * (20 + 3 * count),  # the table and its index
        reads=2 * (calls + relayed[1] / RELAY_LOOK_S),
        puts=10 + 4 * count + clients,
        gets=2 * clients + count * (count + 3),
        metrics=METRICS,
    )


# Where a run's dataset comes from, and how that changes the run's time and use.


Given = Literal["loaded", "prepared", "restored"]
Ways = tuple[Extent, Extent, Extent]  # least, expected, most

_GIB = 2**30
_MIB = 2**20
GROWTH = 1.5  # bytes of a table per byte of its values: half-filled pages, indexes
READ_MIB_S = (100.0, 20.0)  # fetching a restored volume's blocks: expected, at worst
SNAPSHOT_MIB_S = (100.0, 25.0)  # writing a first snapshot
_SNAPSHOT_LEAST_S = 120.0
_NO_STEPS = Rehearsed(steps=0.0, clients=1.0, soak_steps=0.0)


def find_dataset_source(
    request: Request, *, restored: bool = False, prepares: bool = False
) -> Given:
    """Return where a run's dataset comes from.

    Args:
        request: What is asked for.
        restored: Whether the target is created from a snapshot that another run has left.
        prepares: Whether the run itself prepares a dataset for others and leaves a snapshot.
    """
    if prepares:
        return "prepared"
    return "restored" if restored or request.target.snapshot is not None else "loaded"


def estimate_dataset_gib(checked: CheckedRequest) -> float:
    """Estimate a dataset's size in GiB; for a user's own snapshot, its volume's size."""
    target = checked.request.target
    if target.snapshot is not None and isinstance(target, RdsTarget):
        return float(target.volume.size_gib)
    size = GROWTH * checked.rows_bytes / _GIB
    if isinstance(target, EndpointTarget | AuroraTarget):
        return size
    return min(size, float(target.volume.size_gib))


def estimate_duration(checked: CheckedRequest, given: Given) -> Duration:
    """Estimate how long a run takes, with the source of its dataset taken into account."""
    request = checked.request
    searching = [checked.search_request(phase.name) for phase in request.phases if phase.search]
    length = _estimate_duration(request, checked.rows, searching)
    if given == "loaded":
        return length
    mib = estimate_dataset_gib(checked) * _GIB / _MIB
    if given == "restored":
        reading = QuotePhase(
            name="prepare",
            expected_s=mib / READ_MIB_S[0] + 60.0,
            most_s=mib / READ_MIB_S[1] + 900.0,
            assumption=f"restored; {mib / 1024:,.0f} GiB are read once, at {READ_MIB_S[0]:g} MiB/s,"
            f" {READ_MIB_S[1]:g} at worst, which fetches all blocks; then rows are counted",
        )
        phases = (reading if phase.name == "prepare" else phase for phase in length.phases)
        return replace(length, phases=tuple(phases))
    taking = QuotePhase(
        name="snapshot",
        expected_s=_SNAPSHOT_LEAST_S + mib / SNAPSHOT_MIB_S[0],
        most_s=_SNAPSHOT_LEAST_S + mib / SNAPSHOT_MIB_S[1],
        assumption=f"a first snapshot of {mib / 1024:,.0f} GiB: {SNAPSHOT_MIB_S[0]:g} MiB/s,"
        f" {SNAPSHOT_MIB_S[1]:g} at worst",
    )
    made = {phase.name: phase for phase in length.phases}
    kept = (made["provision"], made["prepare"], taking, made["teardown"])
    return replace(length, phases=kept, steps=(0.0, 0.0, 0.0), rehearsed=_NO_STEPS)


def estimate_extents(request: Request, length: Duration, given: Given) -> Ways:
    """Return what a run uses: at least, as expected, at most."""
    if given != "prepared":
        return (
            estimate_least(request, length),
            estimate_expected(request, length),
            estimate_most(request, length),
        )
    loading = next(phase for phase in length.phases if phase.name == "prepare")
    whole = math.fsum(phase.expected_s for phase in length.phases)
    longest = estimate_longest_target_s(request)
    return (
        _estimate_preparing(request, target_s=0.0, loading_s=0.0),
        _estimate_preparing(request, target_s=min(whole, longest), loading_s=loading.expected_s),
        _estimate_preparing(
            request, target_s=longest, loading_s=min(loading.most_s, request.time_limit_s)
        ),
    )


def _estimate_preparing(request: Request, *, target_s: float, loading_s: float) -> Extent:
    return compute_extent(
        target_s=target_s,
        loading_client_s=request.prepare.clients * loading_s,
        step_clients=[],
        polls=max(0.0, target_s - loading_s) / AWS_TIMINGS.poll_s,
    )

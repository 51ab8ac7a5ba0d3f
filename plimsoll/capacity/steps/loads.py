"""Groups steps by load: repetitions, which of them count, and their figures together."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll import words
from plimsoll.capacity.steps.audits import SOFT, audit_step
from plimsoll.capacity.steps.debt import is_lent, is_repaying
from plimsoll.capacity.steps.littles_law import compute_concurrent_operations
from plimsoll.capacity.steps.step_figures import (
    StepFigures,
    combine_figures,
    name_step,
    read_step_figures,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Audit, Axis, Rules
from plimsoll.model.judging.steps import Step

# If more clients at one load raise the throughput by this share, the fewer were the limit
RAISED_SHARE = 0.10
LATE_US = 1_000.0  # p99 of (send time - due time) above which a client is too slow


@dataclass(frozen=True, slots=True)
class Repetition:
    """One step with its figures and the results of its audits."""

    step: Step
    figures: StepFigures
    audits: tuple[Audit, ...]
    disputed: bool  # whether a hard audit failed
    disturbed: bool  # whether other programs on this machine disturbed it
    doubtful: bool  # whether a soft audit failed: the step may fail, but cannot pass
    restless: bool  # whether the halves of its window disagree
    few: bool  # whether its window holds too few operations for the statistic
    unsettled: bool  # whether the server's log only filled, or mostly drained, in its window
    client_bound: str | None  # why the clients were the limit; None if they were not


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """One load with its repetitions, and those of them that count."""

    load: float
    repetitions: tuple[Repetition, ...]
    counted: tuple[Repetition, ...]  # undisputed repetitions of the largest fleet
    figures: StepFigures  # those of `counted` together; of all repetitions if none counts
    client_bound: str | None

    @property
    def consistent(self) -> bool:
        """Whether any repetition counts."""
        return bool(self.counted)


def choose_axis(steps: Sequence[Step]) -> Axis:
    """Return the axis of the load: the rate, else clients or connections, whichever varies more.

    Raises:
        UsageError: Only some steps have a rate, or no measure of load is known for every step.
    """
    rates = [step.rate_ops_per_second for step in steps]
    if None not in rates:
        return "rate_ops_per_second"
    if any(rate is not None for rate in rates):
        bad = name_step(steps[rates.index(None)], rates.index(None) + 1)
        raise UsageError(
            f"{bad}: rate_ops_per_second is missing, but other steps have it: "
            "judge open-loop and closed-loop steps apart"
        )
    clients = {step.clients for step in steps}
    connections = {step.connections for step in steps}
    if None not in connections and (None in clients or len(connections) > len(clients)):
        return "connections"
    if None not in clients:
        return "clients"
    number = next(i for i, step in enumerate(steps, 1) if step.clients is None)
    raise UsageError(
        f"{name_step(steps[number - 1], number)}: clients is missing: every step needs one measure"
        " of "
        "its load: clients, connections or rate_ops_per_second"
    )


def group_by_load(steps: Sequence[Step], rules: Rules, axis: Axis) -> list[LoadPoint]:
    """Group steps by their load, lightest first.

    Raises:
        UsageError: A step lacks its throughput or the judged statistic.
    """
    by_load: dict[float, list[Repetition]] = {}
    for number, step in enumerate(steps, 1):
        load = getattr(step, axis)
        by_load.setdefault(float(load), []).append(_make_repetition(step, number, rules))
    return [_make_load_point(load, tuple(by_load[load]), rules) for load in sorted(by_load)]


def select_undisputed(steps: Sequence[Step], rules: Rules) -> list[Repetition]:
    """Return the steps that are neither void nor disputed by an audit, in their order.

    Raises:
        UsageError: See `group_by_load`.
    """
    read = [
        _make_repetition(step, n, rules) for n, step in enumerate(steps, 1) if step.void is None
    ]
    return [repetition for repetition in read if not repetition.disputed]


def explain_dispute(steps: Sequence[Step], rules: Rules) -> str | None:
    """Return why the first of some steps does not count; None if it does, or there is none."""
    for step in steps[:1]:
        if step.void is not None:
            return f"{name_step(step, 1)}: {step.void}"
        failed = (check for check in audit_step(step, rules) if check.passed is False)
        return next((f"{name_step(step, 1)}: {check.detail}" for check in failed), None)
    return None


def _make_load_point(load: float, repetitions: tuple[Repetition, ...], rules: Rules) -> LoadPoint:
    consistent = [repetition for repetition in repetitions if not repetition.disputed]
    counted, raised = _select_largest_fleet(_drop_too_short(consistent))
    bound = [repetition.client_bound for repetition in counted if repetition.client_bound]
    client_bound = raised or (bound[0] if 2 * len(bound) > len(counted) else None)
    figures = combine_figures(
        [repetition.figures for repetition in counted or repetitions], rules.statistic
    )
    return LoadPoint(load, repetitions, tuple(counted), figures, client_bound)


def _make_repetition(step: Step, number: int, rules: Rules) -> Repetition:
    audits = audit_step(step, rules)
    failed = {check.name for check in audits if check.passed is False}
    figures = read_step_figures(step, number, rules)
    return Repetition(
        step=step,
        figures=figures,
        audits=audits,
        disputed=bool(failed - SOFT),
        # A bypassed volume, unlike a disturbance, is permanent
        disturbed="undisturbed" in failed and "nothing_escaped" not in failed,
        doubtful=bool(failed & SOFT),
        restless=figures.slowing or "steady_state" in failed,
        few="enough_operations" in failed,
        unsettled=is_repaying(step.debt)
        or (step.debt is not None and step.debt.judged and is_lent(step.debt)),
        client_bound=_explain_client_bound(step, rules),
    )


def _drop_too_short(repetitions: Sequence[Repetition]) -> list[Repetition]:
    """Leave out windows that were too short if a longer window of the load was long enough.

    A window is too short if its halves disagree, if it holds too few operations, or if the server's
    log only filled or mostly drained in it. What varies within the short windows varies within the
    long one too, and averages out.
    """
    longest = max((_find_window_factor(r.step) for r in repetitions if not _is_short(r)), default=0)
    return [r for r in repetitions if not _is_short(r) or _find_window_factor(r.step) >= longest]


def _is_short(repetition: Repetition) -> bool:
    return repetition.restless or repetition.few or repetition.unsettled


def _find_window_factor(step: Step) -> int:
    return step.window_factor or 1


def _explain_client_bound(step: Step, rules: Rules) -> str | None:
    if step.refused is not None:
        return None  # more clients would be refused too
    if step.client_busy is not None and step.client_busy > rules.client_busy_max:
        return f"the clients were busy {words.format_percent(step.client_busy)} of the window"
    late_us = step.send_lateness_us
    if late_us is None or late_us <= LATE_US:
        return None
    idle = _compute_idle_connections_share(step)
    if idle is None or idle <= 0.5:
        return None
    late = words.format_latency(late_us)
    return (
        f"operations were sent {late} late (p99) with {words.format_percent(idle)} of connections"
        " idle"
    )


def _compute_idle_connections_share(step: Step) -> float | None:
    """Return the share of connections without an operation, by Little's law; None if unknown.

    If every connection waits for the target, late sends are the target's fault. If some are idle,
    they are the client's.
    """
    found = compute_concurrent_operations(step)
    if found is None or step.connections is None:
        return None
    return 1 - found.most / step.connections


def _select_largest_fleet(
    repetitions: Sequence[Repetition],
) -> tuple[list[Repetition], str | None]:
    """Return the repetitions of the largest fleet; those of smaller fleets are not comparable.

    Returns:
        The repetitions that count, and why they may still be client-bound, or None. If the largest
        fleet outperformed the second largest, a still larger one might do so again.
    """
    fleets: dict[int, list[Repetition]] = {}
    for repetition in repetitions:
        fleets.setdefault(repetition.step.clients or 0, []).append(repetition)
    sizes = sorted(fleets)
    if len(sizes) < 2:
        return list(repetitions), None
    fewer, more = (median(r.figures.throughput for r in fleets[size]) for size in sizes[-2:])
    raised = None
    if more > fewer * (1 + RAISED_SHARE):
        raised = (
            f"{words.format_count(sizes[-1], 'client')} reached {words.format_throughput(more)},"
            f" {sizes[-2]:,}"
            f" only {words.format_throughput(fewer)}"
        )
    return fleets[sizes[-1]], raised

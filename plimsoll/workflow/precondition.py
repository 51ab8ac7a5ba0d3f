"""Preconditioning: unmeasured load before the search until writes settle, within bounds.

Right after loading, a target behaves unlike minutes later: its log, dirty pages and page splits
reach a balance only under load (ycsb-a rose from 540 to 640 ops/s for 95 s). Storage tests apply
load until the measured variable is steady and only then measure (SNIA, "Solid State Storage
Performance Test Specification", Enterprise). Likewise the unmeasured load here runs in rounds of
`prepare.warm_s` until a round shows no trend and has the throughput and the I/Os per operation of
the round before.
"""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.statistics.trends import detect_trend, is_significant
from plimsoll.databases.family import find_family
from plimsoll.model.request.load_request import Preparation
from plimsoll.model.run.results import Preconditioning, Round, StepResult

SETTLED_SHARE = 0.05  # throughput that changes less within a round has settled
FEW_SECONDS = 12  # with fewer seconds a trend is seldom significant, so a second round is needed
ROUNDS_SHARE = 0.10  # two rounds agree if throughput and I/Os per operation differ by less


def add_round(before: Preconditioning | None, done: StepResult) -> Preconditioning:
    """Add a round that has ended; a repeated call adds it only once."""
    number = done.plan.round
    rounds = [r for r in (before.rounds if before else ()) if r.number != number]
    rounds.append(_summarize_round(done))
    why_not = _describe_unsettled(rounds)
    length = words.format_duration(sum(each.duration_s for each in rounds))
    load = f"{length} of unmeasured load ({words.format_count(len(rounds), 'round')})"
    text = f"{load}: {why_not}" if why_not else f"{load}, and it had settled"
    figures = [words.format_throughput(rounds[-1].throughput_ops_per_second)]
    if rounds[-1].ios_per_operation is not None:
        figures.append(f"{rounds[-1].ios_per_operation:.2f} I/Os per operation")
    return Preconditioning(
        rounds=tuple(rounds), settled=why_not is None, text=f"{text} ({', '.join(figures)})"
    )


def needs_round(so_far: Preconditioning, asked: Preparation) -> bool:
    """Return whether another round is needed and allowed."""
    return not so_far.settled and so_far.duration_s + asked.warm_s <= asked.warm_longest_s


def _summarize_round(done: StepResult) -> Round:
    by_second: dict[int, int] = {}
    for second in done.seconds:
        by_second[second.epoch_s] = by_second.get(second.epoch_s, 0) + second.succeeded
    # the first and last second are incomplete
    whole = [float(by_second[epoch_s]) for epoch_s in sorted(by_second)][1:-1]
    throughput, operations = done.step.throughput_ops_per_second, sum(by_second.values())
    ios = _count_ios(done)
    return Round(
        number=done.plan.round,
        duration_s=done.plan.duration_s,
        throughput_ops_per_second=throughput,
        ios_per_operation=ios / operations if ios is not None and operations else None,
        trend=detect_trend(whole),
    )


def _count_ios(done: StepResult) -> float | None:
    """Return the server's I/Os over the whole load, the time over which operations are counted.

    None if the server cannot count all of them.
    """
    before = done.plan.server_before
    if before is None or done.server is None:
        return None
    rates = find_family(before.family).storage_rates(done.server)
    return rates.iops * rates.interval_s if rates is not None and rates.whole else None


def _describe_unsettled(rounds: Sequence[Round]) -> str | None:
    """Describe what has not settled yet; None if nothing visible moves."""
    last, before = rounds[-1], rounds[-2] if len(rounds) > 1 else None
    if not last.throughput_ops_per_second:
        return "nothing was measured of it"
    if before is None and (last.trend is None or last.trend.values < FEW_SECONDS):
        return "one round is too short to tell whether it has settled"
    if last.trend is not None:
        change = last.trend.change_share
        if is_significant(last.trend) and abs(change) > SETTLED_SHARE:
            return f"throughput still {_describe_change(change)} within the last round"
    for what, now, then in (
        (
            "throughput",
            last.throughput_ops_per_second,
            before and before.throughput_ops_per_second,
        ),
        ("I/Os per operation", last.ios_per_operation, before and before.ios_per_operation),
    ):
        if now is not None and then and abs(now / then - 1) > ROUNDS_SHARE:
            return f"{what} still {_describe_change(now / then - 1)} from the round before"
    return None


def _describe_change(share: float) -> str:
    return f"{'rose' if share > 0 else 'fell'} by {words.format_percent(abs(share))}"

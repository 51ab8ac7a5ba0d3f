"""The questions that a report answers before anything else, each in a line."""

from plimsoll import words
from plimsoll.model.capacity import Capacity
from plimsoll.model.results import RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.dollars import hourly_usd, why_no_dollars
from plimsoll.report.limit_words import limit_cell
from plimsoll.report.next_step import next_step
from plimsoll.report.rows import at_capacity


def first_screen(result: RunResult, usd_per_hour: float | None = None) -> list[tuple[str, str]]:
    """Answer what comes after "how much": question and answer.

    Args:
        result: The run.
        usd_per_hour: What the target costs an hour; None: as the run estimated it.
    """
    capacity = result.capacity
    answers = [("What to do next", f"{next_step(result)}.")]
    if capacity is None:
        return answers
    return [
        ("At which latency", _latency(capacity)),
        ("What limits it", _limit(result)),
        ("How sure", _sure(capacity)),
        ("What it costs", _cost(result, capacity, usd_per_hour)),
        *answers,
    ]


def _latency(capacity: Capacity) -> str:
    judged = at_capacity(capacity)
    if judged is None or not judged.latency_us:
        return "not known: there is no load to name"
    name = words.statistic(capacity.statistic)
    return ", ".join(f"{op} {name} {words.latency(us)}" for op, us in judged.latency_us.items())


def _limit(result: RunResult) -> str:
    limiting = result.limiting
    if limiting is None or limiting.resource == "unknown":
        return "not known: nothing that was measured tells it"
    share = limiting.share if limiting.reached is not False else None
    return limit_cell(limiting) + (f", {words.percent(share)}" if share is not None else "")


def _sure(capacity: Capacity) -> str:
    """How far the figure can be trusted: its interval, or why it has none."""
    if (interval := capacity.interval) is not None:
        low, high = interval.low_ops_per_second, interval.high_ops_per_second
        times = words.plural(interval.repetitions, "repetition")
        return f"95 %: {words.rate(low)} to {words.throughput(high)}, {times}"
    if capacity.max_sustainable_throughput_ops_per_second is None:
        return "there is no figure to be sure of"
    if capacity.bound != "=":
        return "a bound, not a maximum"
    return "measured once: it has no interval"


def _cost(result: RunResult, capacity: Capacity, usd_per_hour: float | None) -> str:
    hourly = hourly_usd(result, usd_per_hour)
    cost = usd_per_million(capacity, hourly)
    if cost is not None and hourly is not None:
        return f"{words.usd_each(cost)} per million operations, {words.usd_each(hourly)} an hour"
    if hourly is not None:
        return f"{words.usd_each(hourly)} an hour; no throughput to divide it by"
    return f"not known: {why_no_dollars(result)}"

"""What stands on top of a report: the answer in one sentence, and the facts under it."""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.capacity import Axis, Capacity, Interval, LoadRange
from plimsoll.model.results import LimitingResource, RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.dollars import hourly_usd, run_cost_words, whose_price
from plimsoll.report.limit_words import limit_facts, limit_sentence
from plimsoll.report.rows import at_capacity
from plimsoll.report.target_words import target_words

VERDICTS = {
    "KNEE": "knee found",
    "PLATEAU": "plateau found",
    "LOWER_BOUND": "lower bound only",
    "BELOW_FIRST_STEP": "below the lightest load",
    "CLIENT_BOUND": "limited by the clients",
    "NOISY": "too noisy",
    "INCONSISTENT": "inconsistent figures",
    "DISTURBED": "the machine was busy",
    "DRIFTING": "the target changed",
    "NOT_SUSTAINED": "it did not last",
    "BURST": "burst only",
}
MEANINGS = {
    "KNEE": "a load passes and a heavier one fails",
    "PLATEAU": "more load gains next to nothing, with latency within its limit",
    "LOWER_BOUND": "nothing failed up to the largest load: no maximum was found",
    "BELOW_FIRST_STEP": "the lightest load fails already",
    "CLIENT_BOUND": "the clients were the limit: nothing is said about the database",
    "NOISY": "repetitions differ too much for a figure",
    "INCONSISTENT": "an audit fails on the step that would decide",
    "DISTURBED": "the machine was busy with other work: measure again while it is idle",
    "NOT_SUSTAINED": "a load passes for minutes, and not for as long as was asked",
    "DRIFTING": "the target got faster or slower while it was measured: warm it for longer",
    "BURST": "every load spent credits faster than they come back: what lasts is not known",
}
# Verdicts that say that a limit was reached.
REACHED = {"KNEE", "PLATEAU", "BELOW_FIRST_STEP", "NOT_SUSTAINED"}


@dataclass(frozen=True)
class Headline:
    """What stands on top of a report."""

    tag: str  # the verdict for people
    decided: bool  # whether the figure is the database's capacity, not only a bound of it
    figure: str | None  # ops/s, with its bound; None: the run gives none
    sentence: str
    facts: tuple[tuple[str, str], ...]  # name and text


def headline(result: RunResult, usd_per_hour: float | None = None) -> Headline:
    """Say what a run found, or why it found nothing.

    Args:
        result: The run.
        usd_per_hour: What the target costs an hour; None: as the run estimated it.
    """
    capacity = result.capacity
    if capacity is None:
        return Headline(
            tag=result.state.value.lower().replace("_", " "),
            decided=False,
            figure=None,
            sentence=_failure(result),
            facts=(),
        )
    figure = capacity.max_sustainable_throughput_ops_per_second
    shown = None
    if figure is not None and capacity.bound is not None:
        shown = words.bounded(words.rate(figure), capacity.bound)
    sentence = _sentence(result, capacity, usd_per_hour)
    if result.failure is not None:
        sentence += f" {_failure(result)}"
    return Headline(
        tag=VERDICTS[capacity.verdict],
        decided=shown is not None and capacity.bound == "=",
        figure=shown,
        sentence=sentence,
        facts=tuple(_facts(result, capacity, usd_per_hour)),
    )


def _sentence(result: RunResult, capacity: Capacity, usd_per_hour: float | None) -> str:
    """The answer: the verdict, how sure its figure is, what set the limit, and what it costs."""
    # The summary begins with a verb only where it has a figure.
    colon = ":" if capacity.max_sustainable_throughput_ops_per_second is None else ""
    parts = [f"{target_words(result)}{colon} {capacity.summary}"]
    if capacity.burst is not None and capacity.verdict != "BURST":
        parts.append(capacity.burst.summary)
    if capacity.interval is not None and capacity.figure is not None:
        parts.append(f"the 95 % interval is {_span(capacity.interval)}")
    if capacity.closing is not None and capacity.closing.background is not None:
        parts.append(capacity.closing.background.detail)
    limiting = result.limiting
    if limiting is not None and capacity.verdict != "CLIENT_BOUND" and _is_told(limiting, capacity):
        parts.append(limit_sentence(limiting))
    cost = usd_per_million(capacity, hourly_usd(result, usd_per_hour))
    if cost is not None:
        whose = _at_list_price(result, usd_per_hour)
        parts.append(f"that is {words.usd_each(cost)} per million operations{whose}")
    return "; ".join(parts) + "."


def _span(interval: Interval) -> str:
    low, high = interval.low_ops_per_second, interval.high_ops_per_second
    return f"{words.rate(low)} to {words.throughput(high)}"


def _is_told(limiting: LimitingResource, capacity: Capacity) -> bool:
    """Whether there is something to say of a limit: one is named, or should have been."""
    return limiting.resource != "unknown" or capacity.verdict in REACHED


def _failure(result: RunResult) -> str:
    failure = result.failure
    if failure is None:
        return f"The run ended {result.state.value} without a verdict."
    phase = f" in its {failure.phase} phase" if failure.phase else ""
    cause = failure.cause if failure.cause.endswith(".") else f"{failure.cause}."
    return f"The run ended {result.state.value}{phase}: {cause}"


def _facts(
    result: RunResult, capacity: Capacity, usd_per_hour: float | None
) -> list[tuple[str, str]]:
    facts = [("Verdict", f"{capacity.verdict}: {MEANINGS[capacity.verdict]}")]
    facts += (("Expected", f"{e.rule}: {e.answer}; {e.because}") for e in result.expect)
    if capacity.bracket is not None:
        facts.append(("Bracket", words.bracket(capacity.bracket, capacity.axis)))
    if capacity.burst is not None:
        facts.append(("Burst", capacity.burst.summary))
    if capacity.edge is not None:
        facts.append(("Edge", _edge(capacity.edge, capacity.axis)))
    if capacity.interval is not None:
        facts.append(("95 % interval", _interval(capacity)))
    if capacity.question is not None:
        facts.append(("Question", capacity.question))
    if line := _latencies(capacity):
        facts.append(("Latency there", line))
    if capacity.closing is not None:
        facts += [(name.capitalize(), text) for name, text in capacity.closing.findings]
    if result.limiting is not None and _is_told(result.limiting, capacity):
        facts += limit_facts(result.limiting)
    return facts + _costs(result, capacity, usd_per_hour)


def _costs(
    result: RunResult, capacity: Capacity, usd_per_hour: float | None
) -> list[tuple[str, str]]:
    costs = []
    hourly = hourly_usd(result, usd_per_hour)
    cost = usd_per_million(capacity, hourly)
    if cost is not None and hourly is not None:
        price = f"{words.usd_each(hourly)} an hour, {whose_price(result, usd_per_hour)}"
        costs.append(("Cost", f"{words.usd_each(cost)} per million operations at {price}"))
    if spent := run_cost_words(result):
        costs.append(("The run", spent))
    return costs


def _at_list_price(result: RunResult, given: float | None) -> str:
    """Say that the price is AWS's where the throughput was measured on this machine."""
    own = given is None and result.local
    return " at the AWS list price of such a target" if own else ""


def _edge(edge: LoadRange, axis: Axis) -> str:
    span = words.load_range(edge.low, edge.high, edge.confidence, axis)
    return f"most windows begin to fail at {span} ({edge.method}, {edge.windows} steps)"


def _interval(capacity: Capacity) -> str:
    interval = capacity.interval
    assert interval is not None  # noqa: S101 - the caller has checked it
    tails = {
        "lower_limit": "; the figure above is its lower limit",
        "median": "; the figure above is their median",
        None: "",
    }
    return (
        f"{_span(interval)} ({interval.repetitions} repetitions, {interval.method})"
        f"{tails[capacity.figure]}; {words.INTERVAL_COVERS}"
    )


def _latencies(capacity: Capacity) -> str:
    judged = at_capacity(capacity)
    if judged is None:
        return ""
    name = words.statistic(capacity.statistic)
    limits = {operation: words.latency(us) for operation, us in judged.limit_us.items()}
    return "; ".join(
        f"{operation} {name} {words.latency(us)} (limit {limits[operation]})"
        for operation, us in judged.latency_us.items()
    )

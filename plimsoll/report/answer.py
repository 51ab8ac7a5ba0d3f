"""The answer in words: one sentence on top, and the facts under it."""

from dataclasses import dataclass

from plimsoll.model.capacity import Capacity
from plimsoll.model.databases import engine_facts
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.results import RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report import text
from plimsoll.report.dollars import hourly_usd, run_cost_words, whose_price

VERDICTS = {
    "KNEE": "knee found",
    "PLATEAU": "plateau found",
    "LOWER_BOUND": "lower bound only",
    "BELOW_FIRST_STEP": "below the lightest load",
    "CLIENT_BOUND": "limited by the clients",
    "NOISY": "too noisy",
    "INCONSISTENT": "inconsistent figures",
}
MEANINGS = {
    "KNEE": "a load passes and a heavier one fails",
    "PLATEAU": "more load gains next to nothing, with latency within its limit",
    "LOWER_BOUND": "nothing failed up to the largest load: no maximum was found",
    "BELOW_FIRST_STEP": "the lightest load fails already",
    "CLIENT_BOUND": "the clients were the limit: nothing is said about the database",
    "NOISY": "repetitions differ too much for a figure",
    "INCONSISTENT": "an audit fails on the step that would decide",
}
REACHED = {"KNEE", "PLATEAU", "BELOW_FIRST_STEP"}  # verdicts of which there was a limit
SIGNS = {"=": "", ">=": "≥ ", "<": "< "}
LIMITS = {
    "storage": "storage set the limit",
    "cpu": "the server's CPU set the limit",
    "client": "the load clients set the limit, not the database",
    "unknown": "what set the limit could not be told from the target's figures",
}


@dataclass(frozen=True)
class Answer:
    """What stands on top of a report."""

    tag: str  # the verdict for people
    decided: bool  # whether the figure is the database's capacity, not only a bound of it
    figure: str | None  # with its bound; None: the run gives none
    sentence: str
    facts: tuple[tuple[str, str], ...]  # name and text


def target_name(request: Request) -> str:
    """The target in a few words: engine, class, storage."""
    target = request.target
    engine = engine_facts(target.engine).label
    if isinstance(target, EndpointTarget):
        return f"{engine} at {target.host}:{target.port}"
    volume = target.volume
    parts = [f"{engine} {target.engine_version}", target.instance_class]
    storage = f"{volume.type} {volume.size_gib:,} GiB"
    if volume.iops is not None:
        storage += f", {volume.iops:,} IOPS"
    if volume.throughput_mib_s is not None:
        storage += f", {volume.throughput_mib_s:,} MiB/s"
    return ", ".join([*parts, storage])


def answer(result: RunResult, usd_per_hour: float | None = None) -> Answer:
    """Say what a run found, or why it found nothing."""
    capacity = result.capacity
    if capacity is None:
        return Answer(
            tag=result.state.value.lower().replace("_", " "),
            decided=False,
            figure=None,
            sentence=_failure(result),
            facts=(),
        )
    figure = capacity.max_sustainable_throughput_ops_per_second
    shown = None
    if figure is not None and capacity.bound is not None:
        shown = f"{SIGNS[capacity.bound]}{text.throughput(figure)}"
    sentence = _sentence(result, capacity, usd_per_hour)
    if result.failure is not None:
        sentence += f" {_failure(result)}"
    return Answer(
        tag=VERDICTS[capacity.verdict],
        decided=shown is not None and capacity.bound == "=",
        figure=shown,
        sentence=sentence,
        facts=tuple(_facts(result, capacity, usd_per_hour)),
    )


def _sentence(result: RunResult, capacity: Capacity, usd_per_hour: float | None) -> str:
    """The answer: the verdict, how sure its figure is, what set the limit, and what it costs."""
    parts = [f"{_subject(result.request, capacity)}{capacity.summary}"]
    if capacity.interval is not None and capacity.figure is not None:
        low, high = capacity.interval.low_ops_per_second, capacity.interval.high_ops_per_second
        span = f"{text.throughput(low)} to {text.throughput(high)} ops/s"
        parts.append(f"the 95 % interval is {span}")
    if (resource := _limited_by(capacity)) is not None:
        parts.append(LIMITS[resource])
    cost = usd_per_million(capacity, hourly_usd(result, usd_per_hour))
    if cost is not None:
        whose = _at_list_price(result, usd_per_hour)
        parts.append(f"that is ${cost:.3g} per million operations{whose}")
    return "; ".join(parts) + "."


def _subject(request: Request, capacity: Capacity) -> str:
    """The target, and a colon where the summary is not a sentence about it."""
    colon = "" if capacity.summary.startswith("sustains") else ":"
    return f"{target_name(request)}{colon} "


def _limited_by(capacity: Capacity) -> str | None:
    """What set the limit; None where none was reached, and where the verdict says it itself."""
    resource = capacity.limiting_resource
    if resource is None or capacity.verdict == "CLIENT_BOUND":
        return None
    return resource if resource != "unknown" or capacity.verdict in REACHED else None


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
    if capacity.bracket is not None:
        facts.append(("Bracket", _bracket(capacity)))
    if capacity.interval is not None:
        facts.append(("95 % interval", _interval(capacity)))
    if line := _latencies(capacity):
        facts.append(("Latency there", line))
    if result.limiting is not None and _limited_by(capacity) is not None:
        seen = f", seen in step {result.limiting.step}" if result.limiting.step else ""
        facts.append(("Limited by", f"{result.limiting.resource}{seen}"))
    hourly = hourly_usd(result, usd_per_hour)
    cost = usd_per_million(capacity, hourly)
    if cost is not None:
        price = f"${hourly:,.4g} an hour, {whose_price(result, usd_per_hour)}"
        facts.append(("Cost", f"${cost:.3g} per million operations at {price}"))
    if spent := run_cost_words(result):
        facts.append(("The run", spent))
    return facts


def _at_list_price(result: RunResult, given: float | None) -> str:
    """Say that the price is AWS's where the throughput is not."""
    own = given is None and result.local
    return " at the AWS list price of such a target" if own else ""


def _bracket(capacity: Capacity) -> str:
    passes, fails = capacity.bracket or (None, None)
    low = "nothing passes" if passes is None else f"passes at {text.load(passes, capacity.axis)}"
    high = "nothing failed" if fails is None else f"fails at {text.load(fails, capacity.axis)}"
    return f"{low}, {high}"


def _interval(capacity: Capacity) -> str:
    interval = capacity.interval
    assert interval is not None  # noqa: S101 - the caller looked
    tails = {
        "lower_limit": "; the figure above is its lower limit",
        "median": "; the figure above is their median",
        None: "",
    }
    return (
        f"{text.throughput(interval.low_ops_per_second)} to"
        f" {text.throughput(interval.high_ops_per_second)} ops/s"
        f" ({interval.repetitions} repetitions, {interval.method}){tails[capacity.figure]}"
    )


def _latencies(capacity: Capacity) -> str:
    judged = next((step for step in capacity.steps if step.load == capacity.at), None)
    if judged is None:
        return ""
    name = text.STATISTIC_NAMES[capacity.statistic]
    limits = {key: text.latency(us) for key, us in judged.limit_us.items()}
    return "; ".join(
        f"{operation} {name} {text.latency(us)} (limit {limits.get(operation, 'none')})"
        for operation, us in judged.latency_us.items()
    )

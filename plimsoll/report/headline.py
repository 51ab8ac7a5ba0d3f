"""The top of a report: the answer in one sentence, its facts, and what to do next."""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.statistics.factorial import (
    compute_carried_ops_per_second,
    compute_full_at_ops_per_second,
    compute_visits_per_operation,
)
from plimsoll.model.aws.volumes import find_band, find_iops_range
from plimsoll.model.judging.capacity import Axis, Capacity, Interval, LoadRange
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.metric_periods import list_whole_periods
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.results import LimitingResource, RunResult, StepResult
from plimsoll.quoting.costs import compute_usd_per_million
from plimsoll.report.charts.rows import find_capacity_load
from plimsoll.report.words import (
    compute_hourly_usd,
    describe_limiting,
    describe_run_cost,
    describe_run_target,
    list_limit_facts,
    name_price_source,
)


@dataclass(frozen=True)
class Headline:
    """The top of a report."""

    tag: str  # the verdict's name for people
    decided: bool  # whether the figure is the capacity itself, not only a bound
    figure: str | None  # ops/s, with its bound; None if the run has no figure
    # What the figure means, as a manager can repeat it; goes on from `figure` with "is ..."
    brief: str
    sentence: str
    facts: tuple[tuple[str, str], ...]  # name and text


def build_headline(result: RunResult, usd_per_hour: float | None = None) -> Headline:
    """Summarize what a run found, or why it found nothing.

    Args:
        result: The run.
        usd_per_hour: The target's price per hour in dollars; None to use the run's own estimate.
    """
    capacity = result.capacity
    if capacity is None:
        return Headline(
            tag=result.state.value.lower().replace("_", " "),
            decided=False,
            figure=None,
            brief=_describe_failure(result),
            sentence=_describe_failure(result),
            facts=(),
        )
    figure = capacity.max_sustainable_throughput_ops_per_second
    shown = None
    if figure is not None and capacity.bound is not None:
        shown = words.prepend_bound(words.format_rate(figure), capacity.bound)
    sentence = _write_sentence(result, capacity, usd_per_hour)
    if result.failure is not None:
        sentence += f" {_describe_failure(result)}"
    return Headline(
        tag=find_verdict_facts(capacity.verdict).name,
        decided=shown is not None and capacity.bound == "=",
        figure=shown,
        brief=_shorten_sentence(result, capacity),
        sentence=sentence,
        facts=tuple(_list_facts(result, capacity, usd_per_hour)),
    )


MEANT = {
    "=": "is the most that this database sustains{latency}",
    ">=": "is what this database sustains at least{latency}; no load was found to be too much",
    "<": "is more than this database sustains: the lightest load is already too much",
}
NAMED_MOST = 3  # with more operations, their latencies stand in the facts alone


def _shorten_sentence(result: RunResult, capacity: Capacity) -> str:
    """Say what the figure means and what set the limit; or why there is no figure."""
    if capacity.max_sustainable_throughput_ops_per_second is None or capacity.bound is None:
        sentences = [f"{capacity.summary[0].upper()}{capacity.summary[1:]}."]
    else:
        latency = _shorten_latencies(capacity)
        sentences = [f"{MEANT[capacity.bound].format(latency=latency)}."]
        if capacity.verdict == "NOT_SUSTAINED":
            sentences = ["passed for minutes, but not for as long as was asked."]
    limiting = result.limiting
    if limiting is not None and limiting.resource != "unknown" and _has_reached_limit(capacity):
        told = describe_limiting(limiting)
        sentences.append(f"{told[0].upper()}{told[1:]}.")
    if result.failure is not None:
        sentences.append(_describe_failure(result))
    return " ".join(sentences)


def _shorten_latencies(capacity: Capacity) -> str:
    judged = find_capacity_load(capacity)
    if judged is None or not judged.latency_us:
        return ""
    name = words.name_statistic(capacity.statistic)
    if len(judged.latency_us) > NAMED_MOST:
        return (
            f", with the {name} of each of its {len(judged.latency_us)} operations within its limit"
        )
    told = (
        f"{words.format_latency(us)} for {operation}"
        + (
            f" (limit {words.format_latency(limit)})"
            if (limit := judged.limit_us.get(operation))
            else ""
        )
        for operation, us in judged.latency_us.items()
    )
    return f", with a {name} latency of {words.join_names(told)}"


def _write_sentence(result: RunResult, capacity: Capacity, usd_per_hour: float | None) -> str:
    """Build the sentence: verdict, precision of the figure, limiting resource, and cost."""
    # The summary begins with a verb only if it has a figure.
    colon = ":" if capacity.max_sustainable_throughput_ops_per_second is None else ""
    parts = [f"{describe_run_target(result)}{colon} {capacity.summary}"]
    if capacity.burst is not None and capacity.verdict != "BURST":
        parts.append(capacity.burst.summary)
    if capacity.interval is not None and capacity.figure is not None:
        parts.append(f"the 95 % interval is {_format_span(capacity.interval)}")
    if capacity.closing is not None and capacity.closing.background is not None:
        parts.append(capacity.closing.background.detail)
    limiting = result.limiting
    if (
        limiting is not None
        and capacity.verdict != "CLIENT_BOUND"
        and _mentions_limit(limiting, capacity)
    ):
        parts.append(describe_limiting(limiting))
    cost = compute_usd_per_million(capacity, compute_hourly_usd(result, usd_per_hour))
    if cost is not None:
        whose = _mention_list_price(result, usd_per_hour)
        parts.append(f"that is {words.format_unit_usd(cost)} per million operations{whose}")
    return "; ".join(parts) + "."


def _format_span(interval: Interval) -> str:
    low, high = interval.low_ops_per_second, interval.high_ops_per_second
    return f"{words.format_rate(low)} to {words.format_throughput(high)}"


def _mentions_limit(limiting: LimitingResource, capacity: Capacity) -> bool:
    """Return whether to mention the limit: one is named, or one should have been."""
    return limiting.resource != "unknown" or _has_reached_limit(capacity)


def _has_reached_limit(capacity: Capacity) -> bool:
    """Return whether the target's own limit was reached."""
    return find_verdict_facts(capacity.verdict).limit == "target"


def _describe_failure(result: RunResult) -> str:
    failure = result.failure
    if failure is None:
        return f"The run ended {result.state.value} without a verdict."
    phase = f" in its {failure.phase} phase" if failure.phase else ""
    cause = failure.cause if failure.cause.endswith(".") else f"{failure.cause}."
    return f"The run ended {result.state.value}{phase}: {cause}"


def _list_facts(
    result: RunResult, capacity: Capacity, usd_per_hour: float | None
) -> list[tuple[str, str]]:
    facts = [("Verdict", f"{capacity.verdict}: {find_verdict_facts(capacity.verdict).meaning}")]
    facts += (("Expected", f"{e.rule}: {e.answer}; {e.because}") for e in result.expect)
    if capacity.bracket is not None:
        facts.append(("Bracket", words.format_bracket(capacity.bracket, capacity.axis)))
    if capacity.burst is not None:
        facts.append(("Burst", capacity.burst.summary))
    if capacity.edge is not None:
        facts.append(("Edge", _describe_edge(capacity.edge, capacity.axis)))
    if capacity.interval is not None:
        facts.append(("95 % interval", _describe_interval(capacity)))
    if capacity.question is not None:
        facts.append(("Load", capacity.question))
    if line := _describe_latencies(capacity):
        facts.append(("Latency at this load", line))
    if capacity.closing is not None:
        facts += [(name.capitalize(), text) for name, text in capacity.closing.findings]
    if result.limiting is not None and _mentions_limit(result.limiting, capacity):
        facts += list_limit_facts(result.limiting)
    return facts + _list_costs(result, capacity, usd_per_hour)


def _list_costs(
    result: RunResult, capacity: Capacity, usd_per_hour: float | None
) -> list[tuple[str, str]]:
    costs = []
    hourly = compute_hourly_usd(result, usd_per_hour)
    cost = compute_usd_per_million(capacity, hourly)
    if cost is not None and hourly is not None:
        price = (
            f"{words.format_unit_usd(hourly)} an hour, {name_price_source(result, usd_per_hour)}"
        )
        costs.append(("Cost", f"{words.format_unit_usd(cost)} per million operations at {price}"))
    if spent := describe_run_cost(result):
        costs.append(("The run", spent))
    return costs


def _mention_list_price(result: RunResult, given: float | None) -> str:
    """Add that the price is AWS's list price, if the throughput was measured on this machine."""
    own = given is None and result.local
    return " at the AWS list price of such a target" if own else ""


def _describe_edge(edge: LoadRange, axis: Axis) -> str:
    low, high = (float(f"{load:.3g}") for load in (edge.low, edge.high))
    return (
        f"most steps fail from a load between {words.format_number(low)} and"
        f" {words.format_load(high, axis)} on"
        f" ({words.format_percent(edge.confidence)} interval; {edge.method}, {edge.windows} steps)"
    )


def _describe_interval(capacity: Capacity) -> str:
    interval = capacity.interval
    assert interval is not None  # noqa: S101 - the caller has checked it
    tails = {
        "lower_limit": ". The figure is its lower end",
        "median": ". The figure is their median",
        "mean": ". The figure is their geometric mean",
        None: "",
    }
    return (
        f"{_format_span(interval)} ({interval.repetitions} repetitions, {interval.method})"
        f"{tails[capacity.figure]}. It covers {words.INTERVAL_COVERS}"
    )


def _describe_latencies(capacity: Capacity) -> str:
    judged = find_capacity_load(capacity)
    if judged is None:
        return ""
    name = words.name_statistic(capacity.statistic)
    limits = {operation: words.format_latency(us) for operation, us in judged.limit_us.items()}
    return "; ".join(
        f"{operation} {name} {words.format_latency(us)} (limit {limits[operation]})"
        for operation, us in judged.latency_us.items()
    )


# What to do after a run: the next step for each verdict, and a prediction marked as such.


AT_ITS_LIMIT = 0.9  # mean over a step, as a share of the volume's IOPS
STEP_UP = 2  # predicted IOPS as a multiple of the present ones


@dataclass(frozen=True)
class Prediction:
    """The predicted upper bound on a volume with more IOPS."""

    iops: int  # IOPS of that volume
    iops_now: int
    visits: float  # measured I/Os per operation
    step: int  # the step in which they were measured
    with_warmup: (
        bool  # whether they include the warm-up, because a metric period exceeds the window
    )
    throughput_ops_per_second: float  # the most that the volume carries
    full_processor_ops_per_second: float | None  # throughput at which the processors are full

    @property
    def sentence(self) -> str:
        """The prediction, marked as one, with its basis and its assumptions."""
        most = words.format_throughput(self.throughput_ops_per_second)
        visits = words.format_number(float(f"{self.visits:.3g}"))
        told = (
            f"Predicted, not measured: {self.iops:,} IOPS instead of {self.iops_now:,} would carry"
            f" at most about {most} (forced-flow law, {visits} I/Os per operation in step"
            f" {self.step}{', I/Os counted over its warm-up too' if self.with_warmup else ''})"
        )
        processor = self.full_processor_ops_per_second
        if processor is not None and processor < self.throughput_ops_per_second:
            return (
                f"{told}, but the CPUs would be full at about {words.format_throughput(processor)}"
            )
        return f"{told}, if nothing else limits it first and each operation takes as many I/Os"


def suggest_next_step(result: RunResult) -> str:
    """Return what to do next."""
    capacity = result.capacity
    if capacity is None:
        return "The run has no verdict: fix what ended it, and run it again"
    if (found := predict_more_iops(result)) is not None:
        return f"More storage IOPS, if you need more. {found.sentence}"
    if capacity.slowed:
        return find_verdict_facts("DISTURBED").next_step
    change = result.limiting.to_change if result.limiting and result.limiting.reached else None
    if change is not None and _has_reached_limit(capacity):
        return f"If you need more: {change}"
    return find_verdict_facts(capacity.verdict).next_step + _name_top_load(capacity)


def _name_top_load(capacity: Capacity) -> str:
    if capacity.verdict != "LOWER_BOUND" or not capacity.steps:
        return ""
    most = max(judged.load for judged in capacity.steps)
    return f" {words.format_load(most, capacity.axis)}"


def predict_more_iops(result: RunResult) -> Prediction | None:
    """Predict the throughput on twice the IOPS, or on the most that such a volume can have.

    None unless storage IOPS set the limit, the I/O was measured at that limit without background
    load, and more IOPS can be provisioned.
    """
    limiting, target = result.limiting, result.request.target
    capacity = result.capacity
    if limiting is None or capacity is None or not _has_reached_limit(capacity):
        return None
    of_storage = limiting.resource == "storage_iops" and limiting.reached
    step = next((one for one in result.steps if one.plan.index == limiting.step), None)
    if not of_storage or step is None or step.plan.background or not isinstance(target, RdsTarget):
        return None
    if target.volume.cloud != "aws":
        return None
    now = target.volume.iops
    row = find_band(target.volume, service=target.service)
    done = None if step.target is None else step.target.iops
    throughput = step.step.throughput_ops_per_second
    if now is None or row.min_iops is None or done is None or throughput is None:
        return None
    more = min(STEP_UP * now, find_iops_range(target.volume, row)[1])
    visits = compute_visits_per_operation(done, throughput)
    if not visits or done < AT_ITS_LIMIT * now or more <= now:
        return None
    carried = compute_carried_ops_per_second(more, visits)
    if carried <= (capacity.max_sustainable_throughput_ops_per_second or 0):
        return None  # this step needed more I/Os per operation than the step of the figure
    busy = step.target.cpu_percent if step.target else None
    return Prediction(
        iops=more,
        iops_now=now,
        visits=visits,
        step=step.plan.index,
        with_warmup=_includes_warmup(step),
        throughput_ops_per_second=carried,
        full_processor_ops_per_second=None
        if busy is None
        else compute_full_at_ops_per_second(throughput, busy / 100),
    )


def _includes_warmup(step: StepResult) -> bool:
    """Return whether the target's figures cover the warm-up: no metric period fits the window."""
    start = step.window_start_epoch_ms or step.plan.window_start_epoch_ms
    end = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    return step.target is not None and not list_whole_periods(
        start, end, period_s=step.target.period_s
    )

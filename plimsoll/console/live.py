"""The live view of a run: what is new since the reader's last request. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Self

from plimsoll.capacity.search import find_axis
from plimsoll.complaints import Complaint
from plimsoll.console import log
from plimsoll.console.outlook import find_axis_load, show_money, show_plan, show_time
from plimsoll.console.series import bin_samples, bin_seconds
from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Capacity, JudgedStep
from plimsoll.model.judging.steps import Statistic, Step, TargetSample
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.results import RunResult, SecondTotals, StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.live import (
    Live,
    LiveAnswer,
    LiveLoad,
    LiveStep,
    LogLine,
    Teardown,
    TeardownStage,
    VolumeCaps,
)
from plimsoll.report.charts.clock import choose_bin_width_s
from plimsoll.report.headline import build_headline
from plimsoll.report.words import describe_finished_step
from plimsoll.workflow.listing import summarize_record

POINTS = 600  # approximate number of bins of a whole series
CURSOR = r"^[0-9]{1,6}\.[0-9]{1,14}\.[0-9]{1,6}$"  # 10**14 ms lie in the year 5138


@dataclass(frozen=True)
class Cursor:
    """The position up to which a reader has followed a run.

    Attributes:
        step: The last finished step that was reported; 0 for none.
        sample_ms: The beginning of the last bin of the target's figures, in ms of the epoch; 0 for
            none.
        every_s: The width of the bins in seconds; 0 if not chosen yet.
    """

    step: int = 0
    sample_ms: int = 0
    every_s: int = 0

    @classmethod
    def parse(cls, text: str | None, parameter: str = "after") -> Self:
        """Parse a cursor; None stands for the beginning.

        Raises:
            UsageError: The text is no cursor of ours. Names the parameter.
        """
        if text is None:
            return cls()
        if not re.match(CURSOR, text):
            raise UsageError(Complaint((parameter,), "is none that a live run gave", text[:60]))
        return cls(*map(int, text.split(".")))

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.step}.{self.sample_ms}.{self.every_s}"


@dataclass(frozen=True)
class Look:
    """What was read of a run at one moment.

    Attributes:
        at: The time.
        record: The run's record.
        request: The run's request.
        quote: The run's quote; None if it has none.
        plan: The plan of the current or last step.
        judged_from: All finished steps of the search.
        capacity: The judgement of these steps so far; None if there is none.
        steps: The steps that ended since the cursor, including those of phases.
        seconds: The seconds of these steps.
        samples: The target's samples from the cursor's last bin on.
        period_s: The period of the samples, in seconds.
        caps: The limits of the volume; None if unknown.
        result: The run's result; None if not written yet.
    """

    at: datetime
    record: RunRecord
    request: Request
    quote: Quote | None
    plan: StepPlan | None
    judged_from: Sequence[Step]
    capacity: Capacity | None
    steps: Sequence[StepResult]
    seconds: Sequence[SecondTotals]
    samples: Sequence[TargetSample]
    period_s: int
    caps: VolumeLimits | None
    result: RunResult | None


def show_live(look: Look, after: Cursor, *, points: int = POINTS) -> Live:
    """Return what is new in a run since a cursor, and its state.

    Args:
        look: What was read since the cursor.
        after: The cursor.
        points: The approximate number of bins of a whole series; a cursor keeps its own width.
    """
    record, request = look.record, look.request
    capacity, axis = look.capacity, find_axis(request.search)
    elapsed_s = ((record.ended_at or look.at) - record.submitted_at).total_seconds()
    every_s = after.every_s or choose_bin_width_s(elapsed_s, points)
    resources = bin_samples(look.samples, max(every_s, look.period_s))
    told = max((step.plan.index for step in look.steps), default=after.step)
    seen_ms = 1000 * resources.epoch_s[-1] if resources.epoch_s else after.sample_ms
    statistic = request.limits.statistic
    under_way = not (record.teardown_asked_at or record.conclude_at or record.state.ended)
    return Live(
        cursor=str(Cursor(told, seen_ms, every_s)),
        at=look.at,
        every_s=every_s,
        run=summarize_record(record),
        plan=show_plan(look.plan, request, look.quote, under_way=under_way),
        time=show_time(record, look.plan, request, look.quote, look.at),
        money=show_money(record, request, look.quote, look.judged_from, look.at),
        log=tuple(_write_log(look)),
        statistic=statistic,
        axis=axis,
        limits_us=_collect_limits_us(capacity),
        bracket=capacity.bracket if capacity else None,
        loads=tuple(show_loads(capacity)),
        steps=tuple(_show_step(done, request, statistic) for done in look.steps),
        seconds=bin_seconds(look.seconds, every_s),
        resources=resources,
        caps=_show_caps(look.caps),
        teardown=_show_teardown(record),
        answer=_show_answer(look.result),
    )


def is_over(shown: Live, patience_s: float = 30.0) -> bool:
    """Whether nothing more will happen to a run. Its results may come late, or never."""
    ended_at = shown.run.ended_at
    if not shown.run.state.ended or ended_at is None:
        return False
    return shown.answer is not None or (shown.at - ended_at).total_seconds() > patience_s


def show_loads(capacity: Capacity | None) -> Iterator[LiveLoad]:
    """Yield every load with its judgement, lightest first."""
    for judged in capacity.steps if capacity else ():
        yield _show_load(judged)


def _show_load(judged: JudgedStep) -> LiveLoad:
    known = {name: getattr(judged, name) for name in LiveLoad.model_fields if name != "decides"}
    return LiveLoad(decides=judged.consistent and not judged.client_bound, **known)


def _collect_limits_us(capacity: Capacity | None) -> dict[str, float]:
    steps = capacity.steps if capacity else ()
    return {name: us for judged in steps for name, us in judged.limit_us.items()}


def _write_log(look: Look) -> Iterator[LogLine]:
    record, request = look.record, look.request
    text = f"{record.name}: recorded"
    yield LogLine(id="recorded", at=record.submitted_at, text=text)
    yield from log.log_before_steps(record, request)
    statistic = request.limits.statistic
    yield from chain.from_iterable(log.log_step(done, statistic) for done in look.steps)
    if look.plan is not None and all(look.plan.index != done.plan.index for done in look.steps):
        yield log.log_plan(look.plan)
    yield from log.log_recovery(record, request)
    yield from log.log_after_steps(record)


def _show_step(done: StepResult, request: Request, statistic: Statistic) -> LiveStep:
    plan, step = done.plan, done.step
    return LiveStep(
        step=plan.index,
        load=find_axis_load(plan, request),
        clients=plan.clients,
        connections=plan.connections,
        rate_ops_per_second=plan.rate_ops_per_second,
        purpose=plan.purpose,
        throughput_ops_per_second=step.throughput_ops_per_second,
        errors=step.errors,
        latency_us={name: figures.get(statistic) for name, figures in step.latency_us.items()},
        window_start_epoch_ms=done.window_start_epoch_ms,
        window_end_epoch_ms=done.window_end_epoch_ms,
        words=describe_finished_step(done, statistic),
        problems=done.problems,
    )


def _show_caps(limits: VolumeLimits | None) -> VolumeCaps | None:
    if limits is None:
        return None
    return VolumeCaps(**{name: getattr(limits, name) for name in VolumeCaps.model_fields})


def _show_teardown(record: RunRecord) -> Teardown:
    stages = []
    if record.teardown_asked_at is not None:
        text = "the deletion of the target was requested"
        stages.append(TeardownStage(stage="asked", at=record.teardown_asked_at, text=text))
        if record.deleted_at is None and record.ended_at is None:
            text = "the target is being deleted; its deletion is confirmed when it is gone"
            stages.append(TeardownStage(stage="deleting", at=None, text=text))
    if record.teardown_error is not None:
        stages.append(TeardownStage(stage="failed", at=None, text=record.teardown_error))
    if record.deleted_at is not None:
        text = "the target was confirmed to be deleted"
        stages.append(TeardownStage(stage="seen deleted", at=record.deleted_at, text=text))
    return Teardown(stages=tuple(stages), gone=record.deleted_at is not None)


def _show_answer(result: RunResult | None) -> LiveAnswer | None:
    if result is None:
        return None
    top = build_headline(result)
    return LiveAnswer(
        tag=top.tag,
        decided=top.decided,
        figure=top.figure,
        sentence=top.brief,
        facts=top.facts,
    )

"""Documents as the service gives them, of made-up runs; through the service's own code."""

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any

from plimsoll.console.compared import show_comparison
from plimsoll.console.live import Cursor, Look, show_live
from plimsoll.console.sizes import show_sizes
from plimsoll.model.aws.prices import PriceOverrides, PriceTable
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.model.run.run_record import RunFigures, RunRecord, RunState
from plimsoll.quoting.prices import override_prices
from plimsoll.sizing.answer import Sizing
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import size
from plimsoll.workflow.history import judge_so_far
from plimsoll.workflow.listing import summarize_record
from plimsoll.workflow.past import extract_measured
from tests.support.few_prices import PRICES

Document = dict[str, Any]
LIMITS_US = {"read": 50_000.0, "update": 50_000.0}


def record_of(result: RunResult, **changes: Any) -> RunRecord:
    """The record of a finished run."""
    moments, capacity = result.moments, result.capacity
    assert capacity is not None
    figure = capacity.max_sustainable_throughput_ops_per_second
    figures = RunFigures.of(capacity, final=True)
    values: dict[str, Any] = {
        "run_id": result.run_id,
        "name": result.name,
        "team": result.team,
        "state": result.state,
        "phase": "teardown",
        "local": result.local,
        "request_sha256": "ab" * 32,
        "time_limit_s": result.request.time_limit_s,
        "submitted_at": moments.submitted,
        "started_at": moments.record,
        "provision_at": moments.provision,
        "target_ready_at": moments.target_ready,
        "prepare_at": moments.prepare,
        "rows": result.rows,
        "step_at": moments.step,
        "conclude_at": moments.conclude,
        "teardown_asked_at": moments.teardown,
        "deleted_at": moments.deleted,
        "ended_at": moments.ended,
        "expires_at": moments.submitted + timedelta(seconds=result.request.time_limit_s),
        "step": len(result.steps),
        "steps_finished": len(result.steps),
        "verdict": capacity.verdict,
        "capacity_ops_per_second": None if figure is None else str(figure),
        "target_words": describe_target(result.request.target),
        "figures": figures,
    }
    return RunRecord.model_validate(values | changes)


def row(result: RunResult, **changes: Any) -> Document:
    """A finished run in the table."""
    return summarize_record(record_of(result)).model_copy(update=changes).model_dump(mode="json")


def ended_run(result: RunResult, seconds: Seconds, **changes: Any) -> Document:
    """A run that has ended, as `GET /runs/{run_id}/live` shows it from the beginning."""
    record = record_of(result, **changes)
    return _looked(result, seconds, record, steps=len(result.steps), after=0)


def going_run(result: RunResult, seconds: Seconds, *, steps: int, after: int = 0) -> Document:
    """The same run in its step after so many have finished: an increment since others.

    Args:
        result: As it ends.
        seconds: As it ends.
        steps: That have finished.
        after: Those of them that were told already.
    """
    nothing_yet = dict.fromkeys(
        ("conclude_at", "teardown_asked_at", "deleted_at", "ended_at", "verdict"), None
    )
    record = record_of(
        result,
        **nothing_yet,
        state=RunState.RUNNING,
        phase="step",
        step=steps + 1,
        steps_finished=steps,
        capacity_ops_per_second=None,
        figures=None,
    )
    return _looked(result, seconds, record, steps=steps, after=after)


def _looked(
    result: RunResult, seconds: Seconds, record: RunRecord, *, steps: int, after: int
) -> Document:
    done = result.steps[:steps]
    plan = result.steps[min(steps, len(result.steps) - 1)].plan
    at_ms = 10**15 if record.state.ended else plan.window_start_epoch_ms
    begin_ms = result.steps[after - 1].plan.window_end_epoch_ms if after else 0
    judged_from = [step.step for step in done]
    ended = result if record.state.ended else None
    look = Look(
        at=record.ended_at or record.submitted_at + timedelta(seconds=30 + 17 * steps),
        record=record,
        request=result.request,
        quote=None,
        plan=plan,
        judged_from=judged_from,
        capacity=result.capacity if ended else judge_so_far(judged_from, result.request),
        steps=done[after:],
        seconds=[second for second in seconds.operations if after < second.step <= steps],
        samples=[sample for sample in seconds.target if begin_ms <= sample.epoch_ms < at_ms],
        period_s=1,
        caps=result.volume_limits,
        result=ended,
    )
    since = Cursor(after, begin_ms, 1) if after else Cursor()
    return show_live(look, since).model_dump(mode="json")


def comparison(*results: RunResult) -> Document:
    """Runs compared, as `GET /comparisons` answers."""
    return show_comparison(results).model_dump(mode="json")


def sizes(
    result: RunResult,
    *,
    want: str,
    limits_us: str = "read=50000,update=50000",
    headroom: str = "0.3",
    limit: str = "20",
) -> Document:
    """What to buy, as `GET /runs/{run_id}/sizes` answers."""
    limits = {name: float(us) for name, us in (one.split("=") for one in limits_us.split(","))}
    answer = size_few(result, want=float(want), limits_us=limits, headroom=float(headroom))
    return show_sizes(answer, most=int(limit)).model_dump(mode="json")


def size_few(
    result: RunResult,
    *,
    want: float,
    limits_us: Mapping[str, float] = LIMITS_US,
    headroom: float = 0.3,
) -> Sizing:
    """Answer what to buy among a few classes, so that it is soon made."""
    wish = Wish(want, limits_us, headroom, 100)
    runs = {result.run_id: extract_measured(result, "p99", limits_us)}
    return size(runs, wish, _few_prices(), statistic="p99", today=date(2026, 3, 3))


@cache
def _few_prices() -> PriceTable:
    """Of a few classes: a ranking is soon made."""
    return override_prices(PriceOverrides.model_validate(PRICES))

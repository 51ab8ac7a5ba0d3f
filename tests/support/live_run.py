"""The made-up run of `synthetic_run`, seen while it goes on."""

from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.console.live import Look
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import RunResult, Seconds, StepResult
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.workflow.history import judge_so_far
from plimsoll.workflow.past import rebuild_record
from tests.support.synthetic_run import synthetic_run


def whole_steps(result: RunResult, seconds: Seconds) -> list[StepResult]:
    """The steps with their seconds, as their own files have them."""
    return [
        step.model_copy(
            update={"seconds": tuple(s for s in seconds.operations if s.step == step.plan.index)}
        )
        for step in result.steps
    ]


def running_record(result: RunResult, finished: int) -> RunRecord:
    """Its record in the step after so many finished ones."""
    record = rebuild_record(result, past=False)
    nothing_yet: dict[str, Any] = dict.fromkeys(
        ["conclude_at", "teardown_asked_at", "deleted_at", "ended_at", "verdict", "figures"]
    )
    expires_at = record.submitted_at + timedelta(seconds=record.time_limit_s)
    return record.model_copy(
        update={
            **nothing_yet,
            "state": RunState.RUNNING,
            "phase": "step",
            "step": finished + 1,
            "steps_finished": finished,
            "expires_at": expires_at,
            "capacity_ops_per_second": None,
        }
    )


def running_look(finished: int = 4, *, after: int = 0, sample_ms: int = 0, **changes: Any) -> Look:
    """What is read of it in the middle of the step after so many finished ones.

    Args:
        finished: How many steps have ended.
        after: The last step that was told already.
        sample_ms: Where the last bin that was told begins.
        **changes: Fields of the look.
    """
    result, seconds = synthetic_run()
    steps = whole_steps(result, seconds)
    plan: StepPlan = steps[finished].plan
    at = datetime.fromtimestamp(plan.window_start_epoch_ms / 1000 + 2, UTC)
    new = steps[after:finished]
    given: dict[str, Any] = {
        "at": at,
        "record": running_record(result, finished),
        "request": result.request,
        "quote": None,
        "plan": plan,
        "judged_from": [step.step for step in steps[:finished]],
        "capacity": judge_so_far([step.step for step in steps[:finished]], result.request),
        "steps": new,
        "seconds": [second for step in new for second in step.seconds],
        "samples": [
            sample
            for sample in seconds.target
            if sample_ms <= sample.epoch_ms < at.timestamp() * 1000
        ],
        "period_s": 1,
        "caps": result.volume_limits,
        "result": None,
        **changes,
    }
    return Look(**given)

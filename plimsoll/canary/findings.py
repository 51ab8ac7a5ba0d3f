"""What a canary asserts of its run, each with what was seen. Pure."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.canary.place import Left
from plimsoll.model.base import Model
from plimsoll.model.capacity import Verdict
from plimsoll.model.results import RunResult, StepResult
from plimsoll.report.limit_words import limit_cell

ANSWERS: tuple[Verdict, ...] = ("KNEE", "PLATEAU", "LOWER_BOUND", "BELOW_FIRST_STEP")
METRICS = ("read_iops", "write_iops", "queue", "cpu_percent")  # of every RDS target


class Finding(Model):
    """One thing that was asserted."""

    what: str
    holds: bool
    seen: str


def findings_of(result: RunResult) -> tuple[Finding, ...]:
    """Assert what the result of a run has to say, whatever its figures."""
    return (_verdict(result), _limit(result), _metrics(result), _deleted(result))


def nothing_left(what: str, left: Sequence[Left]) -> Finding:
    """Assert that nothing is left of something.

    Args:
        what: Of what, in words.
        left: What was found after as much patience as AWS may need.
    """
    names = ", ".join(each.what for each in left)
    seen = f"still there: {names}" if left else "nothing bears its tag, no stack of it is listed"
    return Finding(what=f"nothing is left of {what}", holds=not left, seen=seen)


def _verdict(result: RunResult) -> Finding:
    capacity = result.capacity
    holds = capacity is not None and capacity.verdict in ANSWERS
    if capacity is not None:
        seen = f"{capacity.verdict}: {capacity.summary}"
    else:
        seen = f"{result.state}: {result.failure.cause if result.failure else 'no verdict'}"
    return Finding(what="the verdict is an answer", holds=holds, seen=seen)


def _limit(result: RunResult) -> Finding:
    limiting = result.limiting
    if limiting is None:
        return Finding(what="what limits is named", holds=False, seen="nothing was concluded")
    evidence = "; ".join(limiting.evidence[:1])
    return Finding(
        what="what limits is named",
        holds=limiting.resource != "unknown",
        seen=f"{limit_cell(limiting)} ({evidence})",
    )


def _metrics(result: RunResult) -> Finding:
    measured = [step for step in result.steps if not step.step.void]
    lacking = [f"step {step.plan.index}: {lack}" for step in measured if (lack := _lacks(step))]
    seen = "; ".join(lacking) or f"of {words.plural(len(measured), 'step')}"
    return Finding(
        what="the target's metrics are there", holds=bool(measured) and not lacking, seen=seen
    )


def _lacks(step: StepResult) -> str:
    if step.target is None or step.target.points == 0:
        return "no point of CloudWatch"
    lacking = [name for name in METRICS if getattr(step.target, name) is None]
    return f"no {', '.join(lacking)}" if lacking else ""


def _deleted(result: RunResult) -> Finding:
    deleted = result.moments.deleted
    seen = f"at {words.time_of_day(deleted)}" if deleted else "its deletion was never seen"
    return Finding(what="the target was seen deleted", holds=deleted is not None, seen=seen)

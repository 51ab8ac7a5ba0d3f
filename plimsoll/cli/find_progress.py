"""The progress of a search in this process: a line for each step, and one that lives below."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.cli.progress import Lines
from plimsoll.finding.finder import JUDGING_S, Shows
from plimsoll.model.engine_report import SecondReport
from plimsoll.model.fleet import WARMING_STEP, StepPlan
from plimsoll.model.request import Request
from plimsoll.model.results import StepResult
from plimsoll.quoting.rehearsal import rehearse
from plimsoll.report.step_words import finished_words, planned_words


class FindProgress(Lines):
    """Prints what has happened in a search; as a context manager it ends the status below."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._steps = round(rehearse(request.search, request.limits).steps)

    def shows(self) -> Shows:
        """What a finder calls."""
        return Shows(self.say, self._planned, self._second, self._finished)

    def _planned(self, plan: StepPlan) -> None:
        self.say(planned_words(plan))
        self.status(f"{planned_words(plan)}{self._left(plan)}")

    def _finished(self, step: StepResult) -> None:
        statistic = self._request.limits.statistic
        self.say(f"step {step.plan.index}: {finished_words(step, statistic)}")
        for problem in step.problems:
            self.say(f"step {step.plan.index}: {problem}")

    def _second(self, plan: StepPlan, second: Sequence[SecondReport]) -> None:
        """Show the last second of the first client, scaled to none of the others."""
        if not second:
            return
        done = sum(part.succeeded for part in second)
        parts = [planned_words(plan), f"second {second[0].second + 1}"]
        whose = "" if plan.clients == 1 else " by the first client"
        parts.append(f"{words.throughput(done)}{whose}")
        limits = self._request.limits.limits_us
        for part in second:
            if part.p99_us is not None:
                limit = limits.get(part.operation)
                of_limit = f" of {words.latency(limit)}" if limit else ""
                parts.append(f"{part.operation} p99 {words.latency(part.p99_us)}{of_limit}")
        self.status(" · ".join(parts) + self._left(plan))

    def _left(self, plan: StepPlan) -> str:
        if plan.index == WARMING_STEP:
            return f" · about {self._steps} steps to come"
        each = self._request.load.warmup_s + self._request.load.duration_s + JUDGING_S
        left = self._steps - plan.index + 1
        return f" · about {words.duration(left * each)} left" if left > 0 else " · nearly done"

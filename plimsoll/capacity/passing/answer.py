"""An answer that a search came to, with what is needed to question it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.capacity.passing.assess import Assessed, FailureReason, assess
from plimsoll.capacity.passing.verdict import Conclusion
from plimsoll.capacity.steps.loads import Repetition, gather
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Purpose, Step


@dataclass(frozen=True, slots=True)
class Answer:
    """A conclusion, the loads that it was drawn from, and the closing steps so far."""

    judged: Sequence[Assessed]  # lightest first
    conclusion: Conclusion
    rules: Rules
    limit_us: Mapping[str, float]  # of each operation
    closing: Sequence[Step]  # in the order in which they ran, void ones too

    @property
    def at(self) -> Assessed | None:
        """The load of the answer; None where there is none."""
        return None if self.conclusion.figure is None else self.conclusion.at

    def with_conclusion(self, conclusion: Conclusion) -> "Answer":
        """The same steps, with what a closing step has left of their conclusion."""
        return replace(self, conclusion=conclusion)

    def tries(self, purpose: Purpose) -> list[Step]:
        """Closing steps of one kind, void ones too: each is a try."""
        return [step for step in self.closing if step.purpose == purpose]

    def counted(self, purpose: Purpose) -> list[Repetition]:
        """Closing steps of one kind that say something, and that no audit disputes."""
        valid = [step for step in self.tries(purpose) if step.void is None]
        points = gather(valid, self.rules, "connections")
        return [repetition for point in points for repetition in point.counted]

    def held(self) -> list[Repetition]:
        """The windows of a soak of the answer's own load.

        A window that failed before the target had recovered is not believed.
        """
        return [window for window in self.windows() if not self._failed_before_a_recovery(window)]

    def windows(self) -> list[Repetition]:
        """All of them.

        Where credits are judged apart, the load that the search found and held is not the one that
        lasts.
        """
        own = {_load_of(repetition.step) for repetition in self.at.point.counted} if self.at else ()
        return [window for window in self.counted("soak") if _load_of(window.step) in own]

    def _failed_before_a_recovery(self, window: Repetition) -> bool:
        believed = window.step.recovered is not False or "recovered" in self.rules.audits_off
        return not believed and bool(self.failures([window]))

    def failures(self, repetitions: Sequence[Repetition]) -> tuple[FailureReason, ...]:
        """What fails of closing steps of one kind, by their medians and the search's limits."""
        rules = self.rules.model_copy(update={"confirmation": None})
        points = gather([repetition.step for repetition in repetitions], rules, "connections")
        return tuple(
            reason for load in assess(points, rules, self.limit_us) for reason in load.reasons
        )


def _load_of(step: Step) -> tuple[int | None, float | None]:
    return step.connections, step.rate_ops_per_second

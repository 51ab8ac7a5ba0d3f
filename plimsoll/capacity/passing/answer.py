"""The answer of a search, with what the closing steps need to test it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.capacity.passing.assess import Assessed, FailureReason, assess_loads
from plimsoll.capacity.passing.verdict import Conclusion
from plimsoll.capacity.steps.loads import Repetition, group_by_load
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Purpose, Step


@dataclass(frozen=True, slots=True)
class Answer:
    """A conclusion, the loads that it is drawn from, and the closing steps so far."""

    judged: Sequence[Assessed]  # lightest first
    conclusion: Conclusion
    rules: Rules
    limit_us: Mapping[str, float]  # limit of each operation
    closing: Sequence[Step]  # in the order in which they ran, including void ones
    # What one client sends at most, in ops/s, if a search went on with more clients; else None
    client_limit: float | None = None

    @property
    def at(self) -> Assessed | None:
        """The load of the answer; None if there is none."""
        return None if self.conclusion.figure is None else self.conclusion.at

    def with_conclusion(self, conclusion: Conclusion) -> "Answer":
        """Return the same steps with a conclusion that a closing step has revised."""
        return replace(self, conclusion=conclusion)

    def find_tries(self, purpose: Purpose) -> list[Step]:
        """Return the closing steps of one kind, including void ones."""
        return [step for step in self.closing if step.purpose == purpose]

    def find_valid(self, purpose: Purpose) -> list[Repetition]:
        """Return the closing steps of one kind that are neither void nor disputed."""
        valid = [step for step in self.find_tries(purpose) if step.void is None]
        points = group_by_load(valid, self.rules, "connections")
        return [repetition for point in points for repetition in point.counted]

    def find_held_windows(self) -> list[Repetition]:
        """Return the windows of a soak at the answer's own load.

        A window that failed before the target had recovered is left out.
        """
        return [
            window for window in self.find_windows() if not self._failed_before_a_recovery(window)
        ]

    def find_windows(self) -> list[Repetition]:
        """Return all windows of the soak.

        If credits are judged separately, the load that the search held is not the sustained one.
        """
        own = {_load_of(repetition.step) for repetition in self.at.point.counted} if self.at else ()
        return [window for window in self.find_valid("soak") if _load_of(window.step) in own]

    def _failed_before_a_recovery(self, window: Repetition) -> bool:
        believed = window.step.recovered is not False or "recovered" in self.rules.audits_off
        return not believed and bool(self.failures([window]))

    def failures(self, repetitions: Sequence[Repetition]) -> tuple[FailureReason, ...]:
        """Return why closing steps of one kind fail, by their medians and the search's limits."""
        rules = self.rules.model_copy(update={"confirmation": None})
        points = group_by_load(
            [repetition.step for repetition in repetitions], rules, "connections"
        )
        return tuple(
            reason for load in assess_loads(points, rules, self.limit_us) for reason in load.reasons
        )


def _load_of(step: Step) -> tuple[int | None, float | None]:
    return step.connections, step.rate_ops_per_second

"""What a search tells a program while it goes on."""

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.finding.finder import Finder, Shows
from plimsoll.finding.interrupts import INTERRUPTED
from plimsoll.model.fleet import StepPlan
from plimsoll.model.results import StepResult
from plimsoll.report.step_words import finished_words, planned_words


@dataclass(frozen=True)
class Progress:
    """Something that has happened in a search; `print` shows its text.

    Attributes:
        text: In one line, for people.
        step: The number of the step that it is about, from 1; 0: warming; None: no step.
        plan: The step, where it begins; else None.
        result: The step, where it has ended; else None.
    """

    text: str
    step: int | None = None
    plan: StepPlan | None = None
    result: StepResult | None = None

    def __str__(self) -> str:
        """Give its text."""
        return self.text


Callback = Callable[[Progress], object]


def shows_of(finder: Finder, progress: Callback) -> Shows:
    """Have a finder tell a program; one that raises KeyboardInterrupt ends the search."""

    def tell(happened: Progress) -> None:
        try:
            progress(happened)
        except KeyboardInterrupt:
            finder.end(INTERRUPTED)

    def ended(step: StepResult) -> None:
        text = finished_words(step, finder.request.limits.statistic)
        number = step.plan.index
        tell(Progress(f"step {number}: {text}", step=number, result=step))
        for problem in step.problems:
            tell(Progress(f"step {number}: {problem}", step=number))

    return Shows(
        say=lambda text: tell(Progress(text)),
        planned=lambda plan: tell(Progress(planned_words(plan), step=plan.index, plan=plan)),
        finished=ended,
    )

"""The judged steps of a run, as the search needs them: `steps/history.json`.

A step's own file has its seconds and names its clients; of thousands of clients that is megabytes,
which nobody reads again before the run concludes.
"""

from plimsoll.model.base import Model
from plimsoll.model.steps import Step


class FinishedStep(Model):
    """One of them."""

    step: Step  # as capacity is judged from it
    phase: str | None = None  # whose pass it is; None: a step of the search
    late: bool  # clients came after its window had begun; of thousands, more than a few


class History(Model):
    """All of them but the warming one, in order."""

    steps: tuple[FinishedStep, ...] = ()

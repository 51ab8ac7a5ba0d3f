"""Which cell of a matrix to measure next, and when the cheapest that carries a load is known. Pure.

A cell is out once its run fell short, or while even the high end of what is predicted for it does.
The answer stands when a cell was measured to carry the load and every cheaper one is out: what is
predicted alone never carries anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.sizing.predict import Prediction

Evidence = Literal["carries", "falls short", "no answer"]
WITHOUT_GROUND_MOST = 2  # runs that leave nothing to predict from: a third would not either


@dataclass(frozen=True)
class Standing:
    """What is known of a cell.

    Attributes:
        measured: What its run said; None: it was not run.
        predicted: What it is held to sustain; None: nothing is known to predict it from.
    """

    measured: Evidence | None = None
    predicted: Prediction | None = None

    def is_out(self, required: float) -> bool:
        """Whether it is known not to sustain so many operations per second."""
        if self.measured in {"carries", "falls short"}:
            return self.measured == "falls short"
        return self.predicted is not None and self.predicted.high < required


@dataclass(frozen=True)
class Found:
    """What to do next, or what is known.

    Attributes:
        outcome: `measure`: the cell named; `decided`: it is the cheapest that carries the load;
            `none`: no cell does; `open`: what runs and predictions say does not decide it.
        cell: Its index; None: there is none.
    """

    outcome: Literal["measure", "decided", "none", "open"]
    cell: int | None = None


def next_cell(cells: Sequence[Standing], required: float) -> Found:
    """Choose the cell to measure next.

    Args:
        cells: Cheapest first.
        required: The load line that is needed, in operations per second.

    Returns:
        A cell that was not run, as long as there is one to be measured.
    """
    carrying = next((i for i, cell in enumerate(cells) if cell.measured == "carries"), None)
    asked = range(len(cells) if carrying is None else carrying)
    unsure = [i for i in asked if not cells[i].is_out(required)]
    if not unsure:
        return Found("none") if carrying is None else Found("decided", carrying)
    untried = [i for i in unsure if cells[i].measured is None]
    if not untried or _in_vain(cells):
        return Found("open", carrying)
    carried = carrying is not None
    return Found("measure", _choice(cells, untried, required, carried=carried))


def _in_vain(cells: Sequence[Standing]) -> bool:
    """Whether runs failed so that nothing is known; a noisy one still says what others may do."""
    run = [cell for cell in cells if cell.measured is not None]
    silent = all(cell.measured == "no answer" for cell in run)
    return len(run) >= WITHOUT_GROUND_MOST and silent and not any(c.predicted for c in cells)


def _choice(
    cells: Sequence[Standing], untried: Sequence[int], required: float, *, carried: bool
) -> int:
    """Choose the best cell to measure.

    The cheapest that is held to carry the load; below one that was measured to, the middle one
    where that is cheaper still: whatever it says, it halves what is left. Where none is held to,
    the one that comes nearest; where nothing is predicted, the middle one.
    """
    told = {i: found.ops_per_second for i in untried if (found := cells[i].predicted) is not None}
    likely = [i for i, ops_per_second in told.items() if ops_per_second >= required]
    middle = untried[len(untried) // 2]
    if carried or not told:
        return min([middle, *likely])
    return likely[0] if likely else max(told, key=lambda i: told[i])

"""Several runs side by side on a terminal: bounds stay bounds."""

import io

import pytest
from rich.console import Console

from plimsoll.cli.run_text import comparison
from plimsoll.model.capacity import Capacity
from plimsoll.words import NOTHING
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()


KNEE = judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
OPEN_END = judged((1, 2000, 500), (2, 3000, 500))
TOO_SLOW = judged((1, 300, 5000))


@pytest.mark.parametrize(
    ("second", "shown"),
    [(KNEE, "1.00"), (OPEN_END, "≥ 2.00"), (TOO_SLOW, "≤ 0.20"), (None, NOTHING)],
)
def test_the_ratio_of_a_bound_is_a_bound(second: Capacity | None, shown: str) -> None:
    runs = {
        "a": RESULT.model_copy(update={"capacity": KNEE}),
        "b": RESULT.model_copy(update={"capacity": second}),
    }
    console = Console(file=io.StringIO(), width=200)
    console.print(comparison(runs))
    assert isinstance(console.file, io.StringIO)
    (line,) = [row for row in console.file.getvalue().splitlines() if row.startswith("ratio")]
    assert line.split(maxsplit=2)[2].strip() == shown

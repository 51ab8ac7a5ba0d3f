"""What a result says of the rows that its operations met."""

import pytest

from plimsoll.model.run.results import OperationTotals, note_no_rows
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
TOTALS = next(iter(RESULT.steps[0].operations.values()))


def operation(
    succeeded: int, rows: int | None, least: int | None = 0
) -> dict[str, OperationTotals]:
    update = {"succeeded": succeeded, "rows": rows, "rows_least": least}
    return {"read": TOTALS.model_copy(update=update)}


def test_an_operation_that_met_no_row_in_any_step_is_noted() -> None:
    (note,) = note_no_rows([operation(60, 0), operation(60, 0)])
    assert note.startswith("read met no row in any of its 120 operations: if its rows are meant")


@pytest.mark.parametrize(
    "steps",
    [
        [operation(99, 0)],  # too few to tell
        [operation(1000, 0), operation(1000, 1)],
        [operation(1000, None)],  # CQL does not tell
        [operation(1000, 0, least=1000)],  # `rows_met` disputes it
        [],
    ],
)
def test_what_met_some_or_is_not_known_is_not_noted(
    steps: list[dict[str, OperationTotals]],
) -> None:
    assert note_no_rows(steps) == ()

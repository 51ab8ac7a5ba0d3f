"""What differs between the canary's run and the twin's: field, here, there."""

from plimsoll.trial.comparison import Row, list_differences
from tests.support.synthetic_run import synthetic_run

HERE, _ = synthetic_run()
THERE, _ = synthetic_run(knee=6.2, seed=6)


def test_a_run_does_not_differ_from_itself() -> None:
    assert list_differences(HERE, HERE) == ()


def test_the_answer_and_the_steps_are_compared_in_words() -> None:
    rows = {row.field: row for row in list_differences(HERE, THERE)}
    assert rows["at"] == Row(field="at", here="3 clients", there="6 clients")
    assert rows["capacity"].here.endswith("ops/s")
    assert {"4 clients: throughput", "4 clients: update p99", "8 clients: IOPS"} <= set(rows)


def test_what_only_one_has_is_a_dash_for_the_other() -> None:
    shorter = HERE.model_copy(update={"steps": HERE.steps[:-4], "limiting": None})
    rows = {row.field: row for row in list_differences(HERE, shorter)}
    assert rows["limited by"].there == "–"  # noqa: RUF001 - the dash of an empty cell
    assert rows["8 clients: throughput"].there == "–"  # noqa: RUF001 - the dash of an empty cell
    assert rows["steps"].here == "9"


def test_a_load_that_was_repeated_is_compared_once() -> None:
    fields = [row.field for row in list_differences(HERE, THERE)]
    assert len(fields) == len(set(fields))

"""Several runs side by side on a terminal: bounds stay bounds."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from plimsoll.cli.run_experiment import write_comparison
from plimsoll.cli.run_text import make_comparison_table, print_result
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.closing import Closing, Soak
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
    console.print(make_comparison_table(runs))
    assert isinstance(console.file, io.StringIO)
    (line,) = [row for row in console.file.getvalue().splitlines() if row.startswith("ratio")]
    assert line.split(maxsplit=2)[2].strip() == shown


def test_a_run_says_whose_answer_it_is_and_what_its_closing_steps_were() -> None:
    last = RESULT.steps[-1]
    soaked = last.model_copy(update={"step": last.step.model_copy(update={"purpose": "soak"})})
    found = Soak(
        asked_s=60, held_s=60, passed=True, stall_max_s=0, spans=6, spans_beyond=0,
        throughput_ops_per_second=1500, reasons=(), detail="held for 1 min",
    )  # fmt: skip
    capacity = KNEE.model_copy(
        update={"question": "closed loop: 2 concurrent callers", "closing": Closing(soak=found)}
    )
    run = RESULT.model_copy(
        update={"capacity": capacity, "steps": (*RESULT.steps[:-1], soaked), "limiting": None}
    )
    console = Console(file=io.StringIO(), width=200)
    print_result(run, None, console)
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]
    assert "closed loop: 2 concurrent callers" in lines
    assert "soak: held for 1 min" in lines
    assert any(line.endswith("soak") for line in lines)


def test_a_run_names_its_dashboards() -> None:
    links = {"cloudwatch": "https://eu-west-1.console.aws.amazon.com/a[b]?start=1&end=2"}
    console = Console(file=io.StringIO(), width=80)
    print_result(RESULT.model_copy(update={"links": links}), None, console)
    assert isinstance(console.file, io.StringIO)
    assert f"CloudWatch: {links['cloudwatch']}\n" in console.file.getvalue()


@pytest.mark.parametrize("second", [KNEE, None])
def test_several_runs_have_one_page_that_shows_them_side_by_side(
    tmp_path: Path, second: Capacity | None
) -> None:
    more = RESULT.request.target.model_copy(update={"instance_class": "db.m6i.xlarge"})
    request = RESULT.request.model_copy(update={"target": more})
    other = RESULT.model_copy(update={"request": request, "capacity": second, "run_id": "other"})
    write_comparison(tmp_path, [RESULT, other])
    page = (tmp_path / "report.html").read_text("utf-8")
    for name in ("db.m6i.large", "db.m6i.xlarge"):
        assert name in page

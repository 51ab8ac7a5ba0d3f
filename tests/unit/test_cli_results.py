"""Several runs side by side on a terminal: bounds stay bounds."""

import io

import pytest
from rich.console import Console

from plimsoll.capacity import judge
from plimsoll.cli.results import comparison
from plimsoll.model.capacity import Capacity, Rules
from plimsoll.model.steps import Step
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()


def capacity(*steps: tuple[int, float, float]) -> Capacity:
    """Steps of clients, ops/s and p99 in microseconds."""
    made = [
        Step(
            clients=clients,
            connections=clients * 100,
            throughput_ops_per_second=throughput,
            latency_us={"read": {"p99": p99}},
        )
        for clients, throughput, p99 in steps
    ]
    return judge(made, Rules(limits_us={"read": 1000}, confirmation=None))


KNEE = capacity((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
OPEN_END = capacity((1, 2000, 500), (2, 3000, 500))
TOO_SLOW = capacity((1, 300, 5000))


@pytest.mark.parametrize(
    ("second", "shown"), [(KNEE, "1.00"), (OPEN_END, ">= 2.00"), (TOO_SLOW, "< 0.20"), (None, "-")]
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

"""Others on the same server are told from what the search itself asks of it."""

import pytest

from plimsoll.load_line.machine import report_other_statements
from plimsoll.model.run.results import ServerFigures
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_merge import result

STEP = synthetic_run()[0].steps[0]


def server(questions: int | None, executed: int) -> ServerFigures:
    """What a server counted in a second in which our clients sent 10,000."""
    return ServerFigures(
        interval_s=1.0,
        counters={} if questions is None else {"Questions": questions},
        gauges={},
        restarted=False,
        statements_by_clients=10_000,
        statements_by_server=executed,
        buffer_pool_miss_share=None,
    )


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (server(10_054, 10_000), None),  # counters, looks, and what connections begin with
        (server(12_000, 10_000), "others sent 2,000 statements/s to this server meanwhile (16.7 %"),
        (server(None, 10_000), None),
        (server(None, 15_000), "others sent 5,000 statements/s to this server meanwhile (33.3 %"),
    ],
)
def test_what_our_clients_did_not_send_came_from_others(
    figures: ServerFigures, told: str | None
) -> None:
    step = STEP.model_copy(update={"server": figures, "problems": ()})
    seen = report_other_statements(step, [result(0, [100])])
    if told is None:
        assert seen == step
        return
    (problem,) = seen.problems
    assert problem.startswith(told)
    assert seen.step.statements_served is None  # no audit of ours then

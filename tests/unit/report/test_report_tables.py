"""The tables of a report: audits of every load, and of very many those that say something."""

import pytest

from plimsoll.capacity import judge
from plimsoll.model.capacity import Capacity, Rules
from plimsoll.model.steps import CLOSING, Step
from plimsoll.report import report_tables


def capacity(loads: int, disputed: int) -> Capacity:
    """Loads of which one claims more operations under way than it has connections."""
    made = [
        Step(
            clients=clients,
            connections=clients * (1 if clients == disputed else 1000),
            throughput_ops_per_second=1000.0 * clients,
            latency_us={"read": {"mean": 5000.0, "p99": 6000.0}},
        )
        for clients in range(1, loads + 1)
    ]
    return judge(made, Rules(limits_us={"read": 1e6}, confirmation=None))


@pytest.mark.parametrize(
    ("loads", "rows", "left_out"),
    [
        (report_tables.LOADS_MOST, report_tables.LOADS_MOST, 0),
        (report_tables.LOADS_MOST + 1, 1, report_tables.LOADS_MOST),
    ],
)
def test_of_very_many_loads_the_audits_that_failed_are_shown(
    loads: int, rows: int, left_out: int
) -> None:
    found = capacity(loads, disputed=7)
    table = report_tables.audits_table(found)
    assert table is not None
    assert len(table.rows) == rows
    assert report_tables.audits_left_out(found) == left_out
    assert "7 clients" in [row[0].text for row in table.rows]
    details = {(load, name): mark for load, name, mark, _ in report_tables.audit_details(found)}
    assert details["7 clients", "Little's law"] == report_tables.MARKS[False]


def test_every_closing_step_has_its_word() -> None:
    assert set(report_tables.CLOSING_WORDS) == CLOSING
    assert report_tables.unjudged(Step(purpose="soak", void="too late")) == "void"
    assert report_tables.unjudged(Step(purpose="confirm")) == ""

"""The tables of a report: audits of every load, and of very many those that say something."""

import pytest

from plimsoll import words
from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, JudgedStep, Rules
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.report import tables


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
        (tables.LOADS_MOST, tables.LOADS_MOST, 0),
        (tables.LOADS_MOST + 1, 1, tables.LOADS_MOST),
    ],
)
def test_of_very_many_loads_the_audits_that_failed_are_shown(
    loads: int, rows: int, left_out: int
) -> None:
    found = capacity(loads, disputed=7)
    table = tables.make_audits_table(found)
    assert table is not None
    assert len(table.rows) == rows
    assert tables.count_left_out(found) == left_out
    assert "7 clients" in [row[0].text for row in table.rows]
    details = {(load, name): mark for load, name, mark, _ in tables.list_audit_details(found)}
    assert details["7 clients", "Little's law"] == tables.MARKS[False]


def test_every_closing_step_has_its_word() -> None:
    assert set(tables.CLOSING_WORDS) == CLOSING
    assert tables.describe_unjudged(Step(purpose="soak", void="too late")) == "void"
    assert tables.describe_unjudged(Step(purpose="confirm")) == ""


def load(**changes: object) -> JudgedStep:
    found = capacity(loads=2, disputed=9).steps[0]
    return found.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "outcome", "told"),
    [
        ({"repetitions": 5, "repetitions_passed": 5}, "passed", "passed"),
        ({"repetitions": 5, "repetitions_passed": 3}, "passed", "3 of 5 passed"),
        (
            {
                "passed": False,
                "reasons": ("latency:read",),
                "repetitions": 5,
                "repetitions_passed": 2,
            },
            "failed",
            "2 of 5 passed",
        ),
        (
            {"passed": False, "reasons": ("latency:read",), "repetitions_passed": 0},
            "failed",
            "failed",
        ),
        ({"passed": False, "reasons": ("undecided:read",)}, "undecided", "undecided"),
        ({"passed": False, "reasons": ("audit:steady_state",)}, "undecided", "undecided"),
        ({"passed": False, "consistent": False, "client_bound": True}, "disputed", "disputed"),
        ({"client_bound": True}, "client-bound", "client-bound"),
    ],
)
def test_a_row_says_what_became_of_its_load_by_one_name(
    changes: dict[str, object], outcome: str, told: str
) -> None:
    """The repetitions of a load are judged together: one of them may exceed what the load keeps."""
    judged = load(**changes)
    assert judged.outcome == outcome
    assert tables.describe_judgement(judged) == told


def test_a_column_of_figures_is_aligned_to_the_right_and_one_of_words_to_the_left() -> None:
    rows: tuple[tuple[str, ...], ...] = (
        ("carries", "746", "~1,450 (1,149 to 2,687)", "db.t4g.large", "2026-03-05 02:30"),
    )
    rows += (("may carry", words.NOTHING, "≥ 2,000", "db.t3.large", "2026-03-06 02:30"),)
    cells = tuple(tuple(map(tables.ReportCell, row)) for row in rows)
    table = tables.ReportTable(("",) * 5, cells)
    assert table.in_words == (True, False, False, True, True)

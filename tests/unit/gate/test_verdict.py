"""The gate's verdict on states with known counts."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.gate.turns import COUNTS
from plimsoll.gate.verdict import (
    COUNT_WORDS,
    compare_states,
    explain,
    require_comparable,
    summarize,
)
from plimsoll.model.datasets import TableLayout
from plimsoll.model.gate import MIX, Change, Count, Counts, GateResult, Setting, State, Turn
from plimsoll.report.summaries import write_junit, write_markdown

SETTING = Setting(
    server="PostgreSQL 18.1",
    protocol="postgres",
    workload="shop",
    dataset="shop",
    records=1000,
    parameters={},
    layout=(TableLayout(name="orders", rows=1000, pages=12),),
    server_settings={"wal_level": "replica"},
    operations=1000,
    connections=1,
    seed=1,
)
SAME: dict[str, dict[Count, float]] = {
    "read": {"pages_requested": 3.0, "rows_met": 1.0, "client_cpu_us": 10.0},
    "update": {"log_bytes": 50.0, "log_records": 2.0, "rows_met": 1.0},
    MIX: {"log_bytes": 25.0, "rows_met": 1.0},
}
JITTER = (0.999, 1.001, 1.0, 1.002, 0.998, 1.0)


def measured(blocks: dict[str, dict[Count, float]], name: str = "before", turns: int = 6) -> State:
    """Return a state whose turns scatter by 0.2 %."""
    made = []
    for factor in JITTER[:turns]:
        counted: dict[str, Counts] = {}
        for operation, counts in blocks.items():
            nothing: Counts = dict.fromkeys(COUNTS)
            counted[operation] = nothing | {n: v * factor for n, v in counts.items()}
        made.append(Turn(blocks=counted))
    return State(name=name, setting=SETTING, turns=tuple(made))


def with_change(operation: str, **counts: float) -> State:
    changed: dict[str, dict[Count, float]] = {name: dict(of) for name, of in SAME.items()}
    changed[operation] = changed[operation] | counts  # type: ignore[assignment]
    return measured(changed, "after")


def compared(after: State) -> GateResult:
    return compare_states(measured(SAME), after)


def test_equal_states_do_no_more_work() -> None:
    result = compared(measured(SAME, "after"))
    assert result.verdict == "no more work"
    assert result.sentences == ()
    assert result.tested == 7  # without the client's CPU, which is weak
    assert {one.outcome for one in result.changes} == {"unchanged", "not tested", "not told"}
    assert summarize(result, "gate").outcome == "met"


def test_an_operation_that_writes_more_log_is_named_with_how_much_and_why() -> None:
    result = compared(with_change("update", log_bytes=120.0, log_records=4.0))
    assert result.verdict == "more work"
    (sentence,) = result.sentences
    assert sentence.startswith("update: 2.40 times as many bytes of log (120, was 50.0 per")
    assert sentence.endswith("an index more, or rows that no longer fit their page")
    (change,) = (one for one in result.changes if one.count == "log_bytes" and one.after == 120.0)
    assert change.outcome == "more"
    assert change.p_value is not None
    assert change.p_value < 1e-6


def test_less_work_is_told_and_does_not_fail() -> None:
    result = compared(with_change("update", log_bytes=40.0))
    assert result.verdict == "no more work"
    assert result.sentences == (
        "update: 20 % fewer bytes of log (40.0, was 50.0 per operation) — less work than before",
    )
    assert summarize(result, "gate").outcome == "met"


def test_the_clients_processor_time_decides_nothing() -> None:
    assert compared(with_change("read", client_cpu_us=30.0)).verdict == "no more work"


def test_a_count_that_appears_is_told_without_a_ratio() -> None:
    with_zero = {name: {**of, "errors": 0.0} for name, of in SAME.items()}
    failing = {name: {**of, "errors": 0.5} for name, of in SAME.items()}
    result = compare_states(measured(with_zero), measured(failing, "after"))
    assert "errors where there were none (0.50, was 0.00 per operation)" in result.sentences[0]
    assert result.sentences[0].endswith("operations fail that did not fail before")


def test_operations_of_one_state_alone_are_named_and_the_mix_is_not_compared() -> None:
    other = {"read": SAME["read"], "insert": SAME["update"], MIX: {"log_bytes": 90.0}}
    result = compared(measured(other, "after"))  # type: ignore[arg-type]
    assert (result.only_before, result.only_after) == (("update",), ("insert",))
    assert {one.operation for one in result.changes} == {"read"}
    assert result.verdict == "no more work"
    assert "update: only before, so neither compared nor is the mix" in result.notes


def test_states_without_a_common_operation_have_no_answer() -> None:
    result = compared(measured({"insert": SAME["update"]}, "after"))
    assert result.verdict == "no answer"
    assert summarize(result, "gate").outcome == "no answer"


def test_two_turns_are_too_few() -> None:
    with pytest.raises(UsageError, match="at least 3 turns"):
        compare_states(measured(SAME, turns=2), measured(SAME, turns=2))


def test_the_files_for_pipelines_have_a_case_for_each_operation() -> None:
    summary = summarize(compared(with_change("update", log_bytes=120.0)), "gate shop")
    assert [case.outcome for case in summary.cases] == ["met", "not met", "met"]
    junit = write_junit([summary])
    assert 'tests="3" failures="1" errors="0"' in junit
    assert "2.40 times as many bytes of log" in junit
    assert "| update: no more work | ❌ not met | 2.40 times" in write_markdown([summary])


@pytest.mark.parametrize(
    ("more", "meaning"),
    [
        ({"log_bytes", "log_records", "pages_requested"}, "an index more"),
        ({"log_bytes"}, "an index more, or wider rows"),
        ({"rows_examined", "pages_requested"}, "an index is missing, or is not used"),
        ({"statements", "commits", "rows_met"}, "N+1"),
        ({"rows_met", "rows_sent", "bytes_sent"}, "a LIMIT or a condition is missing"),
        ({"commits", "log_flushes"}, "autocommit"),
        ({"log_bytes", "log_flushes"}, "autocommit"),
        ({"sorts"}, "no index delivers their order"),
        ({"bytes_sent"}, "wider rows are sent"),
    ],
)
def test_what_a_change_means(more: set[Count], meaning: str) -> None:
    changes = {
        count: Change(operation="o", count=count, before=1, after=2, outcome="more")
        for count in more
    }
    assert meaning in explain(changes)


def test_every_count_has_its_words() -> None:
    assert set(COUNT_WORDS) == set(COUNTS)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"server": "PostgreSQL 17.2"}, "server (PostgreSQL 18.1, now PostgreSQL 17.2)"),
        ({"seed": 2}, "seed (1, now 2)"),
        ({"records": 5}, "records (1000, now 5)"),
        ({"server_settings": {"wal_level": "logical"}}, "wal_level (replica, now logical)"),
        ({"layout": ()}, "the tables' sizes as they were loaded"),
    ],
)
def test_a_baseline_that_was_measured_otherwise_is_refused(
    changed: dict[str, object], named: str
) -> None:
    stored = measured(SAME)
    require_comparable(stored, SETTING.model_dump(mode="json"))
    now = SETTING.model_copy(update=changed).model_dump(mode="json")
    with pytest.raises(UsageError) as refused:
        require_comparable(stored, now)
    assert named in str(refused.value)

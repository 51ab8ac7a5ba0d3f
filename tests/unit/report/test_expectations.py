"""A result against an earlier one: worse only where the interval of their ratio lies below."""

import json
from pathlib import Path

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.run.results import RunResult
from plimsoll.report.expectations import (
    Judged,
    JudgedTable,
    check_expectations,
    check_rule,
    read_baseline,
)
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
NOT_WORSE = "not worse than base.json by 5 %"


def repeated(*throughputs: float) -> Capacity:
    """Judge repetitions of one load that passes, and a heavier one that fails."""
    steps = [
        Step(
            clients=2 if x != 2500 else 3,
            connections=200,
            throughput_ops_per_second=x,
            latency_us={"read": {"p99": 500 if x != 2500 else 5000}},
        )
        for x in (*throughputs, 2500)
    ]
    return judge(steps, Rules(limits_us={"read": 1000}, confirmation=None))


BASE = repeated(1990, 2000, 2010)


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (repeated(1985, 1995, 2005), "met"),
        (repeated(1790, 1800, 1810), "not met"),
        (repeated(1800, 1900, 2000), "no answer"),  # 0.95: the interval is on both sides
        (repeated(2400, 2410, 2420), "met"),
        (repeated(1000), "no answer"),  # once: there is no interval
        (judged((1, 1000, 500), (2, 3000, 500)), "met"),  # at least 3000
        (judged((1, 1000, 500), (2, 1500, 500)), "no answer"),  # at least 1500
        (judged((1, 900, 5000)), "not met"),  # below 900
        (judged((1, 3000, 5000)), "no answer"),  # below 3000
    ],
)
def test_it_is_worse_only_where_the_interval_lies_below(now: Capacity, answer: str) -> None:
    outcome = check_rule(NOT_WORSE, Judged(now), {"base.json": Judged(BASE)})
    assert outcome.answer == answer, outcome.because


def test_two_bounds_and_other_questions_give_no_answer() -> None:
    bound = judged((1, 1000, 500), (2, 1500, 500))
    outcome = check_rule(NOT_WORSE, Judged(bound), {"base.json": Judged(bound)})
    assert (outcome.answer, "only bounds" in outcome.because) == ("no answer", True)
    load = RESULT.request.load.model_copy(update={"duration_s": 7.0})
    other = RESULT.model_copy(update={"request": RESULT.request.model_copy(update={"load": load})})
    asked = check_rule(NOT_WORSE, Judged.of(RESULT), {"base.json": Judged.of(other)})
    because = "base.json answers another question (load.duration_s)"
    assert (asked.answer, asked.because) == ("no answer", because)


def test_whichever_has_no_figure_is_named() -> None:
    none = {"verdict": "NOISY", "bound": None, "max_sustainable_throughput_ops_per_second": None}
    noisy = Judged(BASE.model_copy(update=none))
    for now, base, said in (
        (Judged(BASE), noisy, "base.json has no figure: NOISY"),
        (noisy, Judged(BASE), "this result has no figure: NOISY"),
        (Judged(BASE), Judged(None, why_not="it was stopped"), "base.json has no figure: it was"),
    ):
        outcome = check_rule(NOT_WORSE, now, {"base.json": base})
        assert (outcome.answer, outcome.because.startswith(said)) == ("no answer", True)


def test_a_run_without_a_verdict_answers_no_rule() -> None:
    result = RESULT.model_copy(update={"capacity": None})
    outcome = check_rule("capacity >= 1", Judged.of(result), {})
    assert (outcome.answer, outcome.because) == ("no answer", "no verdict: it has no verdict")


def asked(*rules: str) -> RunResult:
    return RESULT.model_copy(
        update={"request": RESULT.request.model_copy(update={"expect": rules})}
    )


def test_what_was_said_of_a_rule_stays_where_its_baseline_is_not_at_hand() -> None:
    first = check_expectations(asked(NOT_WORSE, "capacity >= 1"))
    assert [one.answer for one in first.expect] == ["no answer", "met"]
    same = check_expectations(first, baselines={"base.json": Judged.of(RESULT)})
    assert [one.answer for one in same.expect] == ["met", "met"]
    again = check_expectations(same, ["capacity >= 2"])
    assert [one.answer for one in again.expect] == ["met", "met", "met"]


def test_a_rule_of_another_version_is_shown_as_it_was() -> None:
    newer = Expectation(rule="a rule of tomorrow", answer="met", because="it was")
    assert check_expectations(RESULT.model_copy(update={"expect": (newer,)})).expect == (newer,)


def test_a_result_of_before_there_were_rules_is_read() -> None:
    old = RESULT.model_dump(mode="json")
    del old["expect"]
    del old["request"]["expect"]
    assert RunResult.model_validate_json(json.dumps(old)) == RESULT


def test_a_baseline_is_a_folder_a_result_or_a_verdict_on_a_table(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/result.json").write_text(RESULT.model_dump_json())
    table = JudgedTable(**dict(BASE), expect=())
    (tmp_path / "table.json").write_text(table.model_dump_json())
    for place in ("run", "run/result.json", "."):
        read = read_baseline(tmp_path / place)
        assert (read.capacity, read.result) == (RESULT.capacity, RESULT)
    assert read_baseline(tmp_path / "table.json") == Judged(table)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"\\u001b[2J"', "\xff"])
def test_a_file_that_is_no_result_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "b.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as refused:
        read_baseline(tmp_path / "b.json")
    assert str(refused.value).isprintable()


def test_a_folder_of_several_runs_is_refused_with_their_names(tmp_path: Path) -> None:
    for name in ("low", "high"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text("{}")
    with pytest.raises(UsageError, match=r"holds several runs: name one \(.*high, .*low\)"):
        read_baseline(tmp_path)
    with pytest.raises(UsageError, match="there is no such file"):
        read_baseline(tmp_path / "nothing")

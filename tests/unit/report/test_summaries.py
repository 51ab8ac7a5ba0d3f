"""What a pipeline reads: JUnit XML as Jenkins' schema has it, and Markdown without traps."""

import re
import xml.etree.ElementTree as ET

import pytest

from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.run.results import LimitingResource, RunResult
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.report.expectations import check_expectations
from plimsoll.report.summaries import (
    Case,
    Summary,
    summarize_run,
    summarize_table,
    write_junit,
    write_markdown,
)
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
KNEE = judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
NOISY = KNEE.model_copy(
    update={
        "verdict": "NOISY",
        "max_sustainable_throughput_ops_per_second": None,
        "bound": None,
    }
)
HOSTILE = "a|b <img src=x>\n# @everyone [x](http://evil.example) `c` *d* \x1b[2J\x00\ud800 ]]> &"
# attributes and children of each element in junit-10.xsd of Jenkins' xUnit plugin
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        *("name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname"),
        *("id", "package", "group", "file", "log", "url"),
    },
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "system-out"},
}


def run(*rules: str, **changes: object) -> RunResult:
    """Make a run that was held against rules."""
    request = RESULT.request.model_copy(update={"expect": rules})
    made = RESULT.model_copy(update={"request": request, "capacity": KNEE, **changes})
    return check_expectations(made)


def written(*summaries: Summary) -> ET.Element:
    """Write summaries and read them again, each element held against Jenkins' schema."""
    whole = ET.fromstring(write_junit(summaries))
    for element in whole.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    for suite in (whole, *whole.findall("testsuite")):
        for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(suite.attrib[name]) == len(list(suite.iter(tag)))
    return whole


def test_each_rule_is_a_case_that_passes_fails_or_is_an_error() -> None:
    rules = ("capacity >= 1000", "capacity >= 2000", "p99.read <= 1ms at 9000")
    summary = summarize_run(run(*rules))
    assert summary.outcome == "not met"
    (suite,) = written(summary)
    cases = suite.findall("testcase")
    assert [case.attrib["name"] for case in cases] == [*rules]
    assert [[child.tag for child in case] for case in cases] == [
        ["system-out"],
        ["failure"],
        ["error"],
    ]
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "not met", "message": "the capacity is 1,500 ops/s"}
    assert suite.attrib["timestamp"] == "2026-03-02T10:00:00"
    assert float(suite.attrib["time"]) > 0


@pytest.mark.parametrize(("capacity", "told"), [(KNEE, "met"), (NOISY, "no answer")])
def test_without_rules_the_verdict_is_the_case(capacity: Capacity, told: str) -> None:
    summary = summarize_run(run(capacity=capacity))
    assert (summary.outcome, [case.name for case in summary.cases]) == (told, ["the verdict"])
    assert len(list(written(summary).iter("error"))) == (told == "no answer")


def test_a_verdict_without_a_figure_is_no_answer_though_a_rule_is_met() -> None:
    summary = summarize_run(run("p99.read <= 1ms at 900", capacity=NOISY))
    assert [case.outcome for case in summary.cases] == ["no answer", "met"]
    assert summary.outcome == "no answer"


def test_a_run_that_failed_is_an_error_with_its_cause() -> None:
    failure = Failure(phase="provision", error="TargetCreationError", cause="no such class")
    failed = run("capacity >= 1", capacity=None, state=RunState.FAILED, failure=failure)
    summary = summarize_run(failed)
    assert summary.outcome == "failed"
    (suite,) = written(summary)
    errors = [error.attrib["message"] for error in suite.iter("error")]
    assert errors == ["it ended FAILED: no such class", "no verdict: no such class"]


def test_hostile_names_are_text_in_xml() -> None:
    case = Case(HOSTILE, "not met", HOSTILE)
    (suite,) = written(Summary(HOSTILE, (case,), ((HOSTILE, HOSTILE),)))
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert "<img src=x>" in failure.text
    assert "]]> &" in failure.text
    assert "\\x1b[2J\\x00\\xd800" in failure.text


def test_hostile_names_are_neither_markup_nor_calls_nor_rows_in_markdown() -> None:
    case = Case(HOSTILE, "not met", HOSTILE)
    text = write_markdown([Summary(HOSTILE, (case,), ((HOSTILE, HOSTILE),))])
    plain = write_markdown([Summary("x", (Case("x", "not met", "x"),), (("x", "x"),))])
    assert text.count("\n") == plain.count("\n")
    assert text.count("|") == plain.count("|")
    assert not set("<`*[]@\x1b\x00") & set(text)
    assert re.findall("^#+", text, re.MULTILINE) == ["###"]
    assert "http://" not in text
    assert text.count("&#64;&#8203;everyone") == 5


def test_markdown_has_the_figures_the_change_and_the_rules() -> None:
    text = write_markdown([summarize_run(run("capacity >= 2000", "not worse than b.json by 5 %"))])
    assert "### ❌ r1-demo: not met" in text.replace(RESULT.name, "r1-demo")
    assert "| verdict | KNEE |" in text
    assert "| capacity | 1,500 ops/s at 2 clients |" in text
    assert "| change | b.json is not available here |" in text
    assert "| capacity >= 2000 | ❌ not met | the capacity is 1,500 ops/s |" in text


def test_a_table_of_steps_is_summed_up_too() -> None:
    summary = summarize_table("steps.csv", KNEE)
    assert (summary.name, summary.outcome, summary.began) == ("steps.csv", "met", None)
    written(summary)


@pytest.mark.parametrize(
    ("reached", "told"), [(True, "storage IOPS"), (False, "nearest: storage IOPS 62 %")]
)
def test_what_was_nearest_to_its_limit_is_not_said_to_have_set_it(reached: bool, told: str) -> None:
    limiting = LimitingResource(
        resource="storage_iops", reached=reached, share=0.62, host_bound=None, step=1, evidence=()
    )
    facts = dict(summarize_run(run(limiting=limiting)).facts)
    assert facts["limited by"] == told

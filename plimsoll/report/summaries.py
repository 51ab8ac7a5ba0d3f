"""Summaries for pipelines, as JUnit XML and Markdown: did a run meet its expectations? Pure."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from plimsoll import words
from plimsoll.capacity.expectations import has_answer
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.report.headline import build_headline
from plimsoll.report.words import describe_run_target, name_limit

CaseOutcome = Literal["met", "not met", "no answer", "failed"]


@dataclass(frozen=True)
class Case:
    """One expectation.

    Attributes:
        name: The rule, or another expectation.
        outcome: The outcome.
        because: The reason, with its figures.
    """

    name: str
    outcome: CaseOutcome
    because: str


@dataclass(frozen=True)
class Summary:
    """The summary of a run, or of a table of steps.

    Attributes:
        name: The name of the run or table.
        cases: The expectations: success, if the run had none; each rule; without rules, an answer.
        facts: Further facts, as name and text.
        began: The start; None if not known.
        seconds: The duration; None if not known.
    """

    name: str
    cases: tuple[Case, ...]
    facts: tuple[tuple[str, str], ...] = field(default=())
    began: datetime | None = None
    seconds: float | None = None

    @property
    def outcome(self) -> CaseOutcome:
        """The worst outcome of its cases."""
        order: tuple[CaseOutcome, ...] = ("failed", "not met", "no answer")
        met = {case.outcome for case in self.cases}
        return next((one for one in order if one in met), "met")


def summarize_run(result: RunResult) -> Summary:
    """Summarize a run, with the outcome of its rules."""
    moments, cases = result.moments, []
    if result.state is not RunState.SUCCEEDED:
        why = result.failure.cause if result.failure else "it has no result"
        cases.append(Case("the run", "failed", f"it ended {result.state.value}: {why}"))
    if result.capacity is not None:
        cases += _list_cases(result.capacity, result.expect)
    else:
        cases += map(_make_case, result.expect)
    top = build_headline(result)
    limits = [("limited by", name_limit(result.limiting))] if result.limiting else []
    return Summary(
        name=result.name,
        cases=tuple(cases),
        facts=(
            ("target", describe_run_target(result)),
            *_list_figures(result.capacity),
            *_list_changes(result.expect),
            *limits,
            ("answer", top.sentence),
        ),
        began=moments.submitted,
        seconds=(moments.ended - moments.submitted).total_seconds() if moments.ended else None,
    )


def summarize_table(
    name: str, capacity: Capacity, expectations: Sequence[Expectation] = ()
) -> Summary:
    """Summarize a verdict on a table of steps."""
    facts = (*_list_figures(capacity), *_list_changes(expectations), ("answer", capacity.summary))
    return Summary(name=name, cases=tuple(_list_cases(capacity, expectations)), facts=facts)


def _list_cases(capacity: Capacity, expectations: Sequence[Expectation]) -> list[Case]:
    """List the rules; expect an answer too if there is none, or if there are no rules."""
    answered = has_answer(capacity)
    cases = list(map(_make_case, expectations))
    if not answered or not cases:
        cases.insert(0, Case("the verdict", "met" if answered else "no answer", capacity.sentence))
    return cases


def _make_case(expectation: Expectation) -> Case:
    return Case(expectation.rule, expectation.answer, expectation.because)


def _list_figures(capacity: Capacity | None) -> Iterable[tuple[str, str]]:
    if capacity is None:
        return
    yield "verdict", capacity.verdict
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is not None:
        at = (
            f" at {words.format_load(capacity.at, capacity.axis)}"
            if capacity.at is not None
            else ""
        )
        yield "capacity", words.prepend_bound(words.format_throughput(figure), capacity.bound) + at
    if (sure := capacity.interval) is not None and figure is not None:
        low, high = sure.low_ops_per_second, sure.high_ops_per_second
        ends = f"{words.format_rate(low)} to {words.format_throughput(high)}"
        yield "95 % interval", f"{ends}; {words.INTERVAL_COVERS}"


def _list_changes(expectations: Iterable[Expectation]) -> Iterable[tuple[str, str]]:
    """Yield what changed against each baseline."""
    for one in expectations:
        # it may come from another version, so its text is not parsed
        if one.rule.startswith("not worse than "):
            yield "change", one.because


# JUnit XML, as Jenkins, GitLab and most others read it.


# Characters that XML 1.0 forbids (section 2.2), with DEL and C1, which control terminals.
_NO_TEXT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"not met": "failure", "no answer": "error", "failed": "error"}


def write_junit(summaries: Sequence[Summary]) -> str:
    """Write a suite for each run, with a case for each of its rules.

    A rule that is not met is a failure. A rule without an answer and a failed run are errors, since
    a skipped case would pass.
    """
    suites = [_make_suite(summary) for summary in summaries]
    whole = ET.Element("testsuites", {"name": "plimsoll", **_count_outcomes([*summaries])})
    whole.extend(suites)
    ET.indent(whole)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(whole, encoding="unicode")}\n'


def _make_suite(summary: Summary) -> ET.Element:
    attributes = {"name": _escape_xml(summary.name), **_count_outcomes([summary]), "skipped": "0"}
    if summary.began is not None:
        attributes["timestamp"] = f"{summary.began:%Y-%m-%dT%H:%M:%S}"
    if summary.seconds is not None:
        attributes["time"] = f"{summary.seconds:.3f}"
    suite = ET.Element("testsuite", attributes)
    properties = ET.SubElement(suite, "properties")
    for name, value in summary.facts:
        ET.SubElement(
            properties, "property", {"name": _escape_xml(name), "value": _escape_xml(value)}
        )
    suite.extend(_make_junit_case(summary, case) for case in summary.cases)
    return suite


def _make_junit_case(summary: Summary, case: Case) -> ET.Element:
    attributes = {
        "classname": _escape_xml(f"plimsoll.{summary.name}"),
        "name": _escape_xml(case.name),
    }
    element = ET.Element("testcase", attributes)
    because = _escape_xml(case.because)
    if case.outcome == "met":
        ET.SubElement(element, "system-out").text = because
    else:
        told = {"type": case.outcome, "message": because}
        ET.SubElement(element, _ELEMENTS[case.outcome], told).text = because
    return element


def _count_outcomes(summaries: Sequence[Summary]) -> dict[str, str]:
    told = [_ELEMENTS.get(case.outcome) for summary in summaries for case in summary.cases]
    return {
        "tests": str(len(told)),
        "failures": str(told.count("failure")),
        "errors": str(told.count("error")),
    }


def _escape_xml(text: str) -> str:
    return _NO_TEXT.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


# Markdown, for the page of a pull request.


_MARKUP = re.compile(r"[\\`*_\[\]#|~<&@$]|://|www\.", re.IGNORECASE)
_CALLS = re.compile(r"(&#(?:35|64);)")  # # and @, which turn a following number or name into a link
_SIGNS = {"met": "✅", "not met": "❌", "no answer": "⚠️", "failed": "❌"}


def write_markdown(summaries: Sequence[Summary]) -> str:
    """Write a heading, a table of facts and a table of rules for each run."""
    return "\n".join(map(_write_section, summaries))


def _write_section(summary: Summary) -> str:
    lines = [
        f"### {_SIGNS[summary.outcome]} {_escape_text(summary.name)}: {summary.outcome}",
        "",
        "| | |",
        "|---|---|",
        *(f"| {_escape_text(name)} | {_escape_text(value)} |" for name, value in summary.facts),
        "",
        "| expected | | |",
        "|---|---|---|",
        *(
            f"| {_escape_text(case.name)} | {_SIGNS[case.outcome]} {case.outcome} |"
            f" {_escape_text(case.because)} |"
            for case in summary.cases
        ),
        "",
    ]
    return "\n".join(lines)


def _escape_text(text: str) -> str:
    """Escape foreign text so that it contains no markup, link or mention."""
    line = " ".join(words.escape_controls(text).split())
    escaped = _MARKUP.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[0]), line)
    return _CALLS.sub(r"\1&#8203;", escaped)

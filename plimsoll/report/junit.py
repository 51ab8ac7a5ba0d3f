"""Summaries as JUnit XML, as Jenkins, GitLab and most others read it.

The elements and attributes are those that Jenkins' schema has (junit-10.xsd of its xUnit plugin).
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from plimsoll.report.summaries import Case, Summary

# what XML 1.0 may not hold at all (section 2.2), with DEL and C1, which a terminal would act on
_NO_TEXT = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"not met": "failure", "no answer": "error", "failed": "error"}


def junit_xml(summaries: Sequence[Summary]) -> str:
    """Write a suite for each run, with a case for each of its rules.

    A rule that is not met is a failure. What has no answer, and a run that failed, are errors: a
    case that is skipped would pass.
    """
    suites = [_suite(summary) for summary in summaries]
    whole = ET.Element("testsuites", {"name": "plimsoll", **_counts([*summaries])})
    whole.extend(suites)
    ET.indent(whole)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(whole, encoding="unicode")}\n'


def _suite(summary: Summary) -> ET.Element:
    attributes = {"name": _text(summary.name), **_counts([summary]), "skipped": "0"}
    if summary.began is not None:
        attributes["timestamp"] = f"{summary.began:%Y-%m-%dT%H:%M:%S}"
    if summary.seconds is not None:
        attributes["time"] = f"{summary.seconds:.3f}"
    suite = ET.Element("testsuite", attributes)
    properties = ET.SubElement(suite, "properties")
    for name, value in summary.facts:
        ET.SubElement(properties, "property", {"name": _text(name), "value": _text(value)})
    suite.extend(_case(summary, case) for case in summary.cases)
    return suite


def _case(summary: Summary, case: Case) -> ET.Element:
    attributes = {"classname": _text(f"plimsoll.{summary.name}"), "name": _text(case.name)}
    element = ET.Element("testcase", attributes)
    because = _text(case.because)
    if case.told == "met":
        ET.SubElement(element, "system-out").text = because
    else:
        told = {"type": case.told, "message": because}
        ET.SubElement(element, _ELEMENTS[case.told], told).text = because
    return element


def _counts(summaries: Sequence[Summary]) -> dict[str, str]:
    told = [_ELEMENTS.get(case.told) for summary in summaries for case in summary.cases]
    return {
        "tests": str(len(told)),
        "failures": str(told.count("failure")),
        "errors": str(told.count("error")),
    }


def _text(text: str) -> str:
    return _NO_TEXT.sub(lambda found: f"\\x{ord(found[0]):02x}", text)

"""Errors as data: how a complaint is written, and where every class of error stands."""

import ast
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from plimsoll import errors
from plimsoll.complaints import Complaint, Place, Range, complain_of_missing, complain_of_unknown
from plimsoll.errors import LimitReachedError, PlimsollError, UsageError, WorkloadError

ROOT = Path(__file__).parents[2]
IOPS = ("target", "volume", "iops")


@pytest.mark.parametrize(
    ("complaint", "line"),
    [
        (Complaint((), "is empty"), "is empty"),
        (Complaint(IOPS, "is wrong", 9), "target.volume.iops: is wrong"),
        (
            Complaint(("search", "clients", 0), "is wrong", 9, Range(least=10)),
            "search.clients[0]: is wrong (allowed: >= 10)",
        ),
        (
            Complaint(("a",), "is wrong", 9, ("b", "c"), Place("r.yaml", 12)),
            "r.yaml:12: a: is wrong (allowed: b, c)",
        ),
        (Complaint(("a",), "at least 3", 1, Range(least=3), listed=False), "a: at least 3"),
        (Complaint(("a",), "is wrong", 1, ()), "a: is wrong (allowed: none)"),
        (replace(complain_of_missing(("workload", "records")), place=Place("r.yaml", 2)),
         "r.yaml:2: workload: lacks the field 'records'"),
        (complain_of_missing(("name",)), "lacks the field 'name'"),
        (complain_of_unknown("field", "naem", ["name", "age"], ("naem",)),
         "naem: unknown field 'naem'; did you mean 'name'? (allowed: age, name)"),
        (complain_of_unknown("word", "x", [], hint="leave it out"),
         "unknown word 'x'; leave it out (allowed: none)"),
    ],
)  # fmt: skip
def test_a_complaint_is_one_line(complaint: Complaint, line: str) -> None:
    assert str(complaint) == line


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        (Range(least=10), ">= 10"),
        (Range(least=0, open=True), "> 0"),
        (Range(most=0.5), "<= 0.5"),
        (Range(most=2**63, open=True), f"< {2**63}"),
        (Range(most=Decimal("9.30")), "<= 9.30"),
        (Range(1_000, 5_000), "1,000 to 5,000"),
        (Range(0, 1, open=True), "0 to 1, both excluded"),
        (Range(125, 125), "125 only"),
    ],
)
def test_a_range_is_written_for_people(allowed: Range, words: str) -> None:
    assert Complaint(("a",), "is wrong", 1, allowed).allowed_words == (words,)


def test_an_error_holds_complaints_and_has_a_line_for_each() -> None:
    error = WorkloadError(Complaint(("a",), "is wrong"), "there is more")
    assert str(error) == "a: is wrong\nthere is more"
    deeper = error.within("workload", "definition")
    assert isinstance(deeper, WorkloadError)
    assert [complaint.field for complaint in deeper.complaints] == [
        "workload.definition.a",
        "workload.definition",
    ]
    assert [complaint.field for complaint in error.complaints] == ["a", ""]


def test_what_is_part_of_something_larger_has_no_place_of_its_own() -> None:
    complaint = Complaint(("a",), "is wrong", place=Place("x.yaml", 3))
    assert complaint.within("b").place is None


def test_an_error_about_no_field_has_no_complaints() -> None:
    assert PlimsollError("it broke").complaints == ()
    assert LimitReachedError("too many").complaints == ()
    assert UsageError("give one").complaints == (Complaint((), "give one"),)


def derived() -> dict[str, str]:
    """Every class of the library that is derived from one of its errors, and from which."""
    bases = {}
    for path in (ROOT / "plimsoll").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
    known = {"PlimsollError": ""}
    while True:
        more = {
            name: parent
            for name, parents in bases.items()
            for parent in parents
            if parent in known and name not in known
        }
        if not more:
            return known
        known |= more


def test_the_tree_of_errors_stands_in_the_docstring_as_it_is() -> None:
    drawn: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if drawing := re.match(r"    ((?:│   |├── |└── |    )*)(\w+Error)\b", line):
            depth = len(drawing[1]) // 4
            above[depth:] = [drawing[2]]
            drawn[drawing[2]] = above[depth - 1] if depth else ""
    assert drawn == derived()

"""docs/security.md promises what is tested: the tests that it names are there, and every fault that
is tried has its row."""

import re
from pathlib import Path

import pytest

from tests.faults.faulty_run import HELD
from tests.faults.test_faults import FAULTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/security.md").read_text()


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT))))
def test_the_tests_that_it_names_are_there(named: str) -> None:
    assert list(ROOT.glob(named))


def test_each_row_of_what_is_protected_names_what_holds_it() -> None:
    table = TEXT.partition("## How connections log in")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert [row for row in rows if "`tests/" not in row and "the table of faults" not in row] == []


def test_every_fault_that_is_tried_has_its_row() -> None:
    table = TEXT.partition("<!-- begin faults -->")[2].partition("<!-- end faults -->")[0]
    rows = {line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()}
    assert set(FAULTS) <= rows


def test_it_names_the_phases_in_which_faults_are_tried() -> None:
    (listed,) = re.findall(r"The phases are ([^.]+)\.", TEXT)
    assert re.findall(r"[a-z]+(?=,| and | \(of|$)", listed) == list(HELD)

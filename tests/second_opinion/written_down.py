"""The table of what is proven, by whom: `make check-aws` writes its counts."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/evidence/aws.md"


@dataclass
class Outcome:
    """What came of a module's tests.

    Attributes:
        tests: Number of tests by outcome, in pytest's words.
        counted: What the tests themselves have counted, in words.
    """

    tests: Counter[str] = field(default_factory=Counter)
    counted: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether nothing failed."""
        return not self.tests["failed"] and not self.tests["error"]

    def __str__(self) -> str:
        """Say how many agreed; the others are known to differ."""
        known = f", {self.tests['xfailed']} known to differ" if self.tests["xfailed"] else ""
        counted = f" ({'; '.join(self.counted)})" if self.counted else ""
        return f"{self.tests['passed']} of {self.tests.total()}{known}{counted}"


def write_down(modules: Mapping[str, Outcome]) -> None:
    """Put today's date and counts into the last column of the rows of these modules."""
    page = PAGE.read_text()
    for module, outcome in modules.items():
        row = re.compile(rf"^(\|.*`{module}`.*\|)[^|]*\|$", re.MULTILINE)
        when = f"{datetime.now(UTC):%Y-%m-%d}"
        page, found = row.subn(rf"\1 {when}: {outcome} |", page)
        assert found == 1, f"{PAGE} has {found} rows that name {module}"
    PAGE.write_text(page)

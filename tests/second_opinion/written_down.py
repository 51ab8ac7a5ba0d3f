"""The table of what is proven, by whom: `make check-aws` writes its counts."""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/deploying.md"


def counts(outcomes: Mapping[str, int]) -> str:
    """Say how many of a module's tests agreed; the others are known to differ.

    Args:
        outcomes: Number of tests by outcome, in pytest's words.
    """
    differing = outcomes.get("xfailed", 0)
    known = f", {differing} known to differ" if differing else ""
    return f"{outcomes.get('passed', 0)} of {sum(outcomes.values())}{known}"


def write_down(modules: Mapping[str, Counter[str]]) -> None:
    """Put today's date and counts into the last column of the rows of these modules."""
    page = PAGE.read_text()
    for module, outcomes in modules.items():
        row = re.compile(rf"^(\|.*`{module}`.*\|)[^|]*\|$", re.MULTILINE)
        when = f"{datetime.now(UTC):%Y-%m-%d}"
        page, found = row.subn(rf"\1 {when}: {counts(outcomes)} |", page)
        assert found == 1, f"{PAGE} has {found} rows that name {module}"
    PAGE.write_text(page)

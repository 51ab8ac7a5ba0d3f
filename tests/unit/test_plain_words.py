"""How the code is written: what a test can hold of it. Descriptions begin with what a thing is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("plimsoll", "functions") for path in (ROOT / folder).rglob("*.py")]
# an entry of `Attributes:` or `Args:`, or a comment behind an annotated name
DESCRIPTION = re.compile(r"^\s+\w+: (Of|For|By|Its|As) |^\s+\w+: [^#\"]*  # (of|for|by|its|as) ")
NONE = re.compile(r"(: |# )None: ")


def riddles(text: str) -> list[str]:
    """List the lines whose description says no noun, or tells of None as of a name."""
    return [line for line in text.splitlines() if DESCRIPTION.search(line) or NONE.search(line)]


def test_descriptions_begin_with_what_a_thing_is() -> None:
    assert len(SOURCES) > 500
    found = {str(path.relative_to(ROOT)): riddles(path.read_text()) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "        load: Of one step.",
        "        limit: For each operation.",
        "    usd: float  # by list prices",
        "    step: int  # None: it had none",
        "        price: None: unknown.",
    ],
)
def test_a_riddle_is_seen(line: str) -> None:
    assert riddles(line) == [line]

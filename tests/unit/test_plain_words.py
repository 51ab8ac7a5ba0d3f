"""How the code is written: what a test can hold of it. Descriptions begin with what a thing is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [path for folder in ("plimsoll", "functions") for path in (ROOT / folder).rglob("*.py")]
# an entry of `Attributes:` or `Args:`, a comment behind a name's value, or one above a field
DESCRIPTION = re.compile(
    r"^\s+\w+: (Of|For|By|Its|As) |^\s*[\w.]+(:| =) [^#]*  # (of|for|by|its|as) "
    r"|^    # (Of|For|By|Its|As) (?!default)"
)
NONE = re.compile(r"(: |# )None: ")
# what a user reads: descriptions of fields and parameters, help of options
SHOWN = ("description", "response_description", "help")
RIDDLE = re.compile(r"^(Of|For|By|Its|As)\b|\b([Nn]one|[Nn]ull): ")


def riddles(text: str) -> list[str]:
    """List the lines whose description says no noun, or tells of None as of a name."""
    return [line for line in text.splitlines() if DESCRIPTION.search(line) or NONE.search(line)]


def shown_texts(source: str) -> Iterator[str]:
    """Yield the descriptions and help texts that calls in a module's source are given."""
    if not any(f"{name}=" in source for name in SHOWN):
        return
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                if keyword.arg in SHOWN:
                    yield _literal(keyword.value)


def _literal(value: ast.expr) -> str:
    """Return a string literal's text without its placeholders; empty if it is none."""
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    texts = (part.value for part in parts if isinstance(part, ast.Constant))
    return "".join(text for text in texts if isinstance(text, str))


def shown_riddles(source: str) -> list[str]:
    """List the texts for users that begin without a noun, or tell of None as of a name."""
    return [text for text in shown_texts(source) if RIDDLE.search(text)]


def test_descriptions_begin_with_what_a_thing_is() -> None:
    assert len(SOURCES) > 500
    found = {str(path.relative_to(ROOT)): riddles(path.read_text()) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_texts_for_users_begin_with_what_a_thing_is() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in SOURCES}
    assert sum(len(list(shown_texts(source))) for source in sources.values()) > 500
    found = {path: shown_riddles(source) for path, source in sources.items()}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "line",
    [
        "        load: Of one step.",
        "        limit: For each operation.",
        "    usd: float  # by list prices",
        "PAGE_BYTES = 16_384  # of InnoDB",
        "    # For each operation, in microseconds",
        "    step: int  # None: it had none",
        "        price: None: unknown.",
    ],
)
def test_a_riddle_is_seen(line: str) -> None:
    assert riddles(line) == [line]


@pytest.mark.parametrize("called", ["Field(None, description={})", "click.option('-o', help={})"])
@pytest.mark.parametrize(
    "text",
    [
        "Of one step.",
        "For `cursor` of the next page.",
        "By operation.",
        "Its id.",
        "As quoted.",
        "Duration; none: no end.",
        "Price; null: not known.",
        "None: it has none.",
    ],
)
def test_a_riddle_for_users_is_seen(called: str, text: str) -> None:
    assert shown_riddles(called.format(repr(text))) == [text]
    assert shown_riddles(called.format(f'"{text[:4]}"\n f"{text[4:]}{{MOST}}"')) == [text]


@pytest.mark.parametrize("text", ["Asked load.", "Forecast; null if not known.", "Bypassed I/Os."])
def test_a_plain_text_passes(text: str) -> None:
    assert shown_riddles(f"Field(description={text!r})") == []

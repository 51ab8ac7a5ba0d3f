"""Outputs of load generators, written after their print formats, with figures made up."""

from pathlib import Path

from plimsoll.capacity.readers import Reading, read_text, read_values
from plimsoll.capacity.readers.reading import parse_json

FOLDER = Path(__file__).parent / "outputs"
NAMES = sorted(path.name for path in FOLDER.iterdir())
REFUSED = {"sysbench-1.1-report_json.txt", "wrk.txt"}


def text_of(name: str) -> str:
    """The output, as its program prints it."""
    return (FOLDER / name).read_text()


def readings_of(text: str, name: str) -> tuple[Reading, ...]:
    """Read a text as the command does."""
    found = read_text(text, name)
    if not found and text.lstrip().startswith("{"):
        value = read_values(parse_json(text, name), name)
        return (value,) if value else ()
    return found


def reading_of(text: str, name: str) -> Reading | None:
    """Read a text that holds one output at most."""
    found = readings_of(text, name)
    assert len(found) < 2
    return found[0] if found else None


def read(name: str) -> Reading:
    """Read an output that can be read."""
    found = reading_of(text_of(name), name)
    assert found is not None
    return found

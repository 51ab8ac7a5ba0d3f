"""Writes docs/openapi.json from the API's routes: `make docs`."""

import json
from pathlib import Path

from plimsoll.api.document import document

FILE = Path(__file__).parents[1] / "docs" / "openapi.json"


def text() -> str:
    """Give the file's text."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())

"""Writes docs/openapi.json from the API's routes, with an example of each call: `make docs`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plimsoll.api.document import build_document
from tools.api_examples import answers, requests

FILE = Path(__file__).parents[1] / "docs" / "openapi.json"
_JSON = "application/json"


def text() -> str:
    """Give the file's text."""
    made = build_document()
    asked, answered = requests(), answers()
    for operation in _operations(made):
        name = operation["operationId"]
        if "requestBody" in operation:
            operation["requestBody"]["content"][_JSON]["example"] = asked[name]
        for status, response in operation["responses"].items():
            if status < "300" and status != "204":
                example = answered.get(name) or answered[f"{name} {status}"]
                response["content"][_JSON]["example"] = example
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _operations(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for operations in made["paths"].values():
        yield from operations.values()


if __name__ == "__main__":
    FILE.write_text(text())

"""Writes the JSON schemas of what users write and read, `docs/schemas/*.json`, from the models.

.venv/bin/python -m tools.json_schemas
"""

import json
from pathlib import Path
from typing import get_args

from plimsoll.requests.schemas import SchemaName, schema

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


def schemas() -> dict[str, str]:
    """Write every schema; by the name of its file."""
    return {
        f"{name}.json": json.dumps(schema(name), indent=2) + "\n" for name in get_args(SchemaName)
    }


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()

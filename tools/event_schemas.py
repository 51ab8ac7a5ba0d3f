"""Writes the JSON schemas of events, `docs/events/*.json`, from their models.

.venv/bin/python -m tools.event_schemas
"""

import json
from pathlib import Path

from plimsoll.model.deployment.events import EVENTS, Event

FOLDER = Path(__file__).parent.parent / "docs" / "events"


def file_name(event: type[Event]) -> str:
    """Name an event's file: `run-started.json`."""
    return f"{event.detail_type.lower().replace(' ', '-')}.json"


def schema(event: type[Event]) -> str:
    """Write an event's schema: of `detail` on the bus."""
    body = event.model_json_schema(mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{event.detail_type} (detail)",
    }
    return json.dumps({**head, **{k: v for k, v in body.items() if k not in head}}, indent=2) + "\n"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for event in EVENTS:
        (FOLDER / file_name(event)).write_text(schema(event))


if __name__ == "__main__":
    main()

"""Writes the JSON schemas of what users write and read, `docs/schemas/*.json`, from the models.

.venv/bin/python -m tools.json_schemas
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from plimsoll.model.check import CheckDefinition
from plimsoll.model.experiment import Experiment
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult
from plimsoll.workload.workload import WorkloadDocument

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """Write every schema; by the name of its file."""
    made = {
        "request": _several_runs(_of(Request)),
        "experiment": _of(Experiment),
        "check": _of(CheckDefinition),
        "workload": _of(WorkloadDocument),
        "result": RunResult.model_json_schema(mode="serialization"),
    }
    return {
        f"{name}.json": json.dumps({"$schema": _DIALECT, **schema, "title": name}, indent=2) + "\n"
        for name, schema in made.items()
    }


def _of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(mode="validation")


def _several_runs(schema: dict[str, Any]) -> dict[str, Any]:
    """Let a file hold several runs that share the rest: what they change may be lacking in it."""
    about = "Several runs in one file, by name: what each of them changes."
    runs = {"type": "object", "minProperties": 1, "description": about}
    runs["additionalProperties"] = {"type": "object"}
    return {
        **{name: part for name, part in schema.items() if name != "required"},
        "properties": {**schema["properties"], "runs": runs},
        "if": {"not": {"required": ["runs"]}},
        "then": {"required": schema["required"]},
    }


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()

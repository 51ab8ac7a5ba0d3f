"""The JSON schemas of what users write and read, generated from the models."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from plimsoll.model.request.check import CheckDefinition
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult
from plimsoll.workload.workload import WorkloadDocument

SchemaName = Literal["request", "experiment", "check", "workload", "result"]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@cache
def schema(name: SchemaName) -> dict[str, Any]:
    """Return a schema: of files that users write, or of a `result`."""
    made = {
        "request": lambda: _allow_several_runs(_model_schema(Request)),
        "experiment": lambda: _model_schema(Experiment),
        "check": lambda: _model_schema(CheckDefinition),
        "workload": lambda: _model_schema(WorkloadDocument),
        "result": lambda: RunResult.model_json_schema(mode="serialization"),
    }[name]()
    return {"$schema": _DIALECT, **made, "title": name}


def _model_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(mode="validation")


def _allow_several_runs(schema: dict[str, Any]) -> dict[str, Any]:
    """Extend the schema to a file with several runs, where fields may be missing outside `runs`."""
    about = "Several runs in one file, by name: what each of them changes."
    runs = {"type": "object", "minProperties": 1, "description": about}
    runs["additionalProperties"] = {"type": "object"}
    return {
        **{name: part for name, part in schema.items() if name != "required"},
        "properties": {**schema["properties"], "runs": runs},
        "if": {"not": {"required": ["runs"]}},
        "then": {"required": schema["required"]},
    }

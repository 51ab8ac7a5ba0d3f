"""Reading requests from YAML: every error names the file, the line, the field and what is allowed.

A file holds one request; or, with `runs`, several that share everything but what each of them
changes: `runs: {low: {target: {volume: {iops: 1000}}}, high: {...}}`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from plimsoll.errors import UsageError
from plimsoll.model.request import Request
from plimsoll.model.schema import fields_at
from plimsoll.runs.workloads import compiled_workload
from plimsoll.workload.items import Item, read_document, unknown

RUNS = "runs"
_FIELD = re.compile(r"^(?P<path>[a-z_]+(\.[a-z_]+)*): ")


def read_requests(path: Path) -> dict[str, Request]:
    """Read a file's requests, by run name; a file with one request has one, by its own name.

    Raises:
        UsageError: Something in it cannot be: one line for each error.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise UsageError(f"{path}: {reason}") from None
    return parse_requests(text, source=str(path))


def parse_requests(text: str, *, source: str) -> dict[str, Request]:
    """Read requests from YAML text.

    Raises:
        UsageError: Something in it cannot be: one line for each error.
    """
    root = read_document(text, source)
    entries = root.entries()
    if RUNS not in entries:
        request = _request(root)
        return {request.name: request}
    common = [(key, value) for key, value in root.node.value if key.value != RUNS]
    base = yaml.MappingNode(root.node.tag, common, root.node.start_mark, root.node.end_mark)
    runs = entries[RUNS].entries()
    if not runs:
        raise entries[RUNS].error("must name at least one run")
    return {name: _request(Item(_merged(base, run), source), name) for name, run in runs.items()}


def _merged(base: yaml.Node, change: Item) -> yaml.Node:
    """Lay a change over a document: mappings field by field, anything else whole."""
    node = change.node
    if not (isinstance(base, yaml.MappingNode) and isinstance(node, yaml.MappingNode)):
        return node
    changes = change.entries()
    old = {key.value: value for key, value in base.value}
    pairs = [(key, value) for key, value in base.value if key.value not in changes]
    for key, value in node.value:
        laid = _merged(old[key.value], changes[key.value]) if key.value in old else value
        pairs.append((key, laid))
    return yaml.MappingNode(base.tag, pairs, node.start_mark, node.end_mark)


def _request(document: Item, run: str | None = None) -> Request:
    _refuse_doubles(document)
    value = yaml.SafeLoader("").construct_document(document.node)
    if not isinstance(value, Mapping):
        raise document.error(f"must be a mapping, not {document.kind}")
    if run is not None and "name" in value:
        value = {**value, "name": f"{value['name']}-{run}"}
    try:
        request = Request.model_validate(value)
    except ValidationError as error:
        raise UsageError("\n".join(_line(document, one) for one in error.errors())) from None
    _check_workload(document, request)
    return request


def _refuse_doubles(item: Item) -> None:
    if isinstance(item.node, yaml.MappingNode):
        for entry in item.entries().values():
            _refuse_doubles(entry)
    elif isinstance(item.node, yaml.SequenceNode):
        for entry in item.sequence():
            _refuse_doubles(entry)


def _check_workload(document: Item, request: Request) -> None:
    place = _place(document, ["workload"])
    try:
        operations = {one.name for one in compiled_workload(request).engine.operations}
    except UsageError as error:
        raise place.error(str(error).removeprefix("workload.")) from None
    for name in request.limits.limits_us:
        if name not in operations:
            place = _place(document, ["limits", "limits_us", name])
            raise place.error(unknown("operation", name, operations))


def _line(document: Item, error: ErrorDetails) -> str:
    """Put one of pydantic's errors into a line for people."""
    message = error["msg"].removeprefix("Value error, ")
    names, allowed = fields_at(Request, error["loc"])
    found = _FIELD.match(message)  # a rule of several fields names the one at fault
    if found and found["path"].split(".")[0] in allowed:
        names = [*names, *found["path"].split(".")]
        message = message[found.end() :]
    place = _place(document, names)
    if error["type"] == "extra_forbidden":
        return str(place.error(unknown("field", str(error["loc"][-1]), allowed)))
    if error["type"] == "missing":
        return str(place.error(f"lacks the field {names[-1]!r}"))
    if error["type"] == "union_tag_not_found":
        return str(place.error(f"lacks the field {error['ctx']['discriminator']}"))
    given = error["input"]
    if isinstance(given, str | int | float) and str(given) not in message:
        message = f"{message}, not {given!r}"
    return str(place.error(message[:1].lower() + message[1:]))


def _place(document: Item, names: list[Any]) -> Item:
    """Find the deepest part of a document along a path of names."""
    place = document
    for name in names:
        children: dict[Any, Item] = {}
        if isinstance(place.node, yaml.MappingNode):
            children = dict(place.entries())
        elif isinstance(place.node, yaml.SequenceNode):
            children = dict(enumerate(place.sequence()))
        if name not in children:
            return place
        place = children[name]
    return place

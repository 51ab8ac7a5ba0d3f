"""Reading requests from YAML: every error names the file, the line, the field and what is allowed.

A file holds one request; or, with `runs`, several that share everything but what each of them
changes: `runs: {low: {target: {volume: {iops: 1000}}}, high: {...}}`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import yaml

from plimsoll.complaints import Complaint, FieldPath, Place
from plimsoll.errors import UsageError
from plimsoll.model.request import Request
from plimsoll.requests.request_values import checked_request
from plimsoll.workload.items import Item, read_document

RUNS = "runs"
Checked = TypeVar("Checked")


def read_text(path: Path) -> str:
    """Read a file.

    Raises:
        UsageError: It cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "is not UTF-8 text"
        raise UsageError(Complaint((), reason, place=Place(str(path)))) from None


def parse_requests(text: str, *, source: str) -> dict[str, Request]:
    """Read requests from YAML text, by run name; a single request goes by its own name.

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
    def check(value: Mapping[str, Any]) -> Request:
        named = run is not None and "name" in value
        return checked_request({**value, "name": f"{value['name']}-{run}"} if named else value)

    return checked_document(document, check)


def checked_document(document: Item, check: Callable[[Mapping[str, Any]], Checked]) -> Checked:
    """Check the values of a document.

    Args:
        document: It must be a mapping, in which no name comes twice.
        check: Makes something of the values, or raises a UsageError about their fields.

    Raises:
        UsageError: Something in it cannot be; each complaint names its line.
    """
    _refuse_doubles(document)
    value = yaml.SafeLoader("").construct_document(document.node)
    if not isinstance(value, Mapping):
        raise document.error(f"must be a mapping, not {document.kind}")
    try:
        return check(value)
    except UsageError as error:
        raise _located(document, error) from None


def _refuse_doubles(item: Item) -> None:
    """Refuse a name that comes twice in any mapping of a document."""
    if isinstance(item.node, yaml.MappingNode):
        for entry in item.entries().values():
            _refuse_doubles(entry)
    elif isinstance(item.node, yaml.SequenceNode):
        for entry in item.sequence():
            _refuse_doubles(entry)


def _located(document: Item, error: UsageError) -> UsageError:
    """Say of each complaint which line of the document it is about."""
    placed = (
        replace(complaint, place=_deepest(document, complaint.path).place)
        for complaint in error.complaints
    )
    return UsageError(*dict.fromkeys(placed))


def _deepest(document: Item, path: FieldPath) -> Item:
    """Find the deepest part of a document along a path."""
    place = document
    for name in path:
        children: dict[Any, Item] = {}
        if isinstance(place.node, yaml.MappingNode):
            children = dict(place.entries())
        elif isinstance(place.node, yaml.SequenceNode):
            children = dict(enumerate(place.sequence()))
        if name not in children:
            return place
        place = children[name]
    return place

"""Reading requests from YAML: errors name the file, the line, the field and what is allowed.

A file has one request, or with `runs` several requests that share everything but their changes:
`runs: {low: {target: {volume: {iops: 1000}}}, high: {...}}`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import yaml

from plimsoll.complaints import Complaint
from plimsoll.documents import Document, Parts, list_node_parts
from plimsoll.errors import UsageError
from plimsoll.model.request.boundary import is_whole_workload
from plimsoll.requests.checked_request import (
    CheckedRequest,
    CompiledWorkloads,
    validate_request,
)

RUNS = "runs"


def read_requests(document: Document) -> dict[str, CheckedRequest]:
    """Read the requests of a document, by run name; a single request has its own name.

    Raises:
        UsageError: Something in it is not valid; one line per error.
    """
    if not isinstance(document.value, dict) or RUNS not in document.value:
        checked = document.check(_check_named_request)
        return {checked.request.name: checked}
    if not isinstance(document.value[RUNS], dict) or not document.value[RUNS]:
        raise document.locate_complaints(
            UsageError(Complaint((RUNS,), "must name at least one run"))
        )
    entries = list_node_parts(document.root)
    _, runs = entries.pop(RUNS)
    base = _make_mapping(entries, document.root)
    known: CompiledWorkloads = {}
    return {
        str(name): Document(_merge_nodes(base, change), document.source).check(
            partial(_check_named_request, run=name, known=known)
        )
        for name, (_, change) in list_node_parts(runs).items()
    }


def _check_named_request(
    value: Mapping[str, Any],
    run: str | int | None = None,
    known: CompiledWorkloads | None = None,
) -> CheckedRequest:
    if run is not None and "name" in value:
        value = {**value, "name": f"{value['name']}-{run}"}
    return validate_request(value, known)


def _merge_nodes(base: yaml.Node, change: yaml.Node) -> yaml.Node:
    """Merge a change into a document: mappings field by field, anything else as a whole.

    A whole workload, as a file has it, replaces the one before.
    """
    if not (isinstance(base, yaml.MappingNode) and isinstance(change, yaml.MappingNode)):
        return change
    if is_whole_workload({str(name) for name in list_node_parts(change)}):
        return change
    entries = list_node_parts(base)
    for name, (key, value) in list_node_parts(change).items():
        _, replaced = entries.pop(name, (key, value))
        entries[name] = (key, _merge_nodes(replaced, value))
    return _make_mapping(entries, change)


def _make_mapping(entries: Parts, where: yaml.Node) -> yaml.MappingNode:
    pairs = list(entries.values())
    return yaml.MappingNode(where.tag, pairs, where.start_mark, where.end_mark)

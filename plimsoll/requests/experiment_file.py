"""Reading an experiment from YAML: every error names the file, the line and the field."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from plimsoll.errors import UsageError
from plimsoll.model.experiment import Experiment
from plimsoll.model.request import Request
from plimsoll.requests.cells import checked_experiment
from plimsoll.requests.request_file import located, parse_requests, read_text, refuse_doubles
from plimsoll.workload.items import Item, read_document

AXES = "axes"  # the field by which a file is known for an experiment


def read_file(path: Path) -> Experiment | dict[str, Request]:
    """Read a file: an experiment, or runs by name.

    Raises:
        UsageError: Something in it cannot be: one line for each error.
    """
    text = read_text(path)
    root = read_document(text, str(path))
    if isinstance(root.node, yaml.MappingNode) and AXES in root.entries():
        return _experiment(root)
    return parse_requests(text, source=str(path))


def _experiment(document: Item) -> Experiment:
    refuse_doubles(document)
    value = yaml.SafeLoader("").construct_document(document.node)
    if not isinstance(value, Mapping):
        raise document.error(f"must be a mapping, not {document.kind}")
    try:
        return checked_experiment(value)
    except UsageError as error:
        raise located(document, error) from None

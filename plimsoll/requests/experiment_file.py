"""Reading an experiment from YAML: every error names the file, the line and the field."""

from pathlib import Path

import yaml

from plimsoll.model.experiment import Experiment
from plimsoll.model.request import Request
from plimsoll.requests.cells import checked_experiment
from plimsoll.requests.request_file import checked_document, parse_requests, read_text
from plimsoll.workload.items import read_document

AXES = "axes"  # the field by which a file is known for an experiment


def read_file(path: Path) -> Experiment | dict[str, Request]:
    """Read a file: an experiment, or runs by name.

    Raises:
        UsageError: Something in it cannot be: one line for each error.
    """
    text = read_text(path)
    root = read_document(text, str(path))
    if isinstance(root.node, yaml.MappingNode) and AXES in root.entries():
        return checked_document(root, checked_experiment)
    return parse_requests(text, source=str(path))

"""Files that a request's own file names: the inputs of its phases, read from beside it."""

from pathlib import Path

import yaml

from plimsoll.documents import read_text

_TEXT = "tag:yaml.org,2002:str"


def read_inputs(node: yaml.Node, folder: Path) -> None:
    """Put the text of each `input: {file: PATH}` of a document in its place, as `csv`.

    Args:
        node: The document's root, or a part of it; changed.
        folder: That of the document.

    Raises:
        UsageError: A file cannot be read.
    """
    if isinstance(node, yaml.SequenceNode):
        for part in node.value:
            read_inputs(part, folder)
    if not isinstance(node, yaml.MappingNode):
        return
    for name, part in node.value:
        if name.value == "input" and isinstance(part, yaml.MappingNode):
            part.value = [_read(key, value, folder) for key, value in part.value]
        else:
            read_inputs(part, folder)


def _read(key: yaml.Node, value: yaml.Node, folder: Path) -> tuple[yaml.Node, yaml.Node]:
    if key.value != "file" or not isinstance(value, yaml.ScalarNode):
        return key, value
    text = read_text(folder / value.value)
    marks = value.start_mark, value.end_mark
    return yaml.ScalarNode(_TEXT, "csv", *marks), yaml.ScalarNode(_TEXT, text, *marks)

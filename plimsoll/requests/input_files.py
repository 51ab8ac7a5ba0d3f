"""Input files of phases, which a request's file names by a path relative to itself."""

from pathlib import Path

import yaml

from plimsoll.documents import read_text

_TEXT = "tag:yaml.org,2002:str"


def read_inputs(node: yaml.Node, folder: Path) -> None:
    """Replace each `input: {file: PATH}` of a document by the file's text, as `csv`.

    Args:
        node: The root of the document, or a part; it is changed in place.
        folder: The folder of the document.

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
            part.value = [_read_input(key, value, folder) for key, value in part.value]
        else:
            read_inputs(part, folder)


def _read_input(key: yaml.Node, value: yaml.Node, folder: Path) -> tuple[yaml.Node, yaml.Node]:
    if key.value != "file" or not isinstance(value, yaml.ScalarNode):
        return key, value
    text = read_text(folder / value.value)
    marks = value.start_mark, value.end_mark
    return yaml.ScalarNode(_TEXT, "csv", *marks), yaml.ScalarNode(_TEXT, text, *marks)

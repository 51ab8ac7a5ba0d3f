"""Input files of phases, which a request's file names by a path relative to itself."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from plimsoll.complaints import Complaint
from plimsoll.documents import Document, read_text
from plimsoll.errors import UsageError

_TEXT = "tag:yaml.org,2002:str"


def read_inputs(document: Document, folders: Sequence[Path]) -> None:
    """Replace each `input: {file: PATH}` of a document by the file's text, as `csv`.

    A request may come from somebody else (a pull request), and its inputs go into a database and
    into reports. So it names files in the folders given, or below them, links resolved.

    Args:
        document: The document; it is changed in place.
        folders: Where inputs may lie; paths are relative to the first.

    Raises:
        UsageError: A file lies elsewhere, or cannot be read.
    """
    # Each node once: a document of a few lines can name the same node a billion times by aliases.
    seen = {id(document.root)}
    waiting = [document.root]
    while waiting:
        node = waiting.pop()
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            for name, part in node.value:
                if name.value == "input" and isinstance(part, yaml.MappingNode):
                    part.value = [_read_input(document, pair, folders) for pair in part.value]
                parts.append(part)
        waiting += [part for part in parts if id(part) not in seen]
        seen.update(map(id, parts))


def _read_input(
    document: Document, pair: tuple[yaml.Node, yaml.Node], folders: Sequence[Path]
) -> tuple[yaml.Node, yaml.Node]:
    key, value = pair
    if key.value != "file" or not isinstance(value, yaml.ScalarNode):
        return pair
    path = folders[0] / value.value
    if not any(path.resolve().is_relative_to(folder.resolve()) for folder in folders):
        problem = (
            f"{value.value} lies outside of the folder of this file; --allow-files DIR allows it"
        )
        raise UsageError(Complaint((), problem, place=document.locate(value)))
    text = read_text(path)
    marks = value.start_mark, value.end_mark
    return yaml.ScalarNode(_TEXT, "csv", *marks), yaml.ScalarNode(_TEXT, text, *marks)

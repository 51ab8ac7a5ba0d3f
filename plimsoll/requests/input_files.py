"""Input files of phases, which a request's file names by a path relative to itself."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from plimsoll.complaints import Complaint
from plimsoll.documents import MAX_CHARACTERS, Document, read_text
from plimsoll.errors import UsageError
from plimsoll.files import resolve_links

_TEXT = "tag:yaml.org,2002:str"


def read_inputs(document: Document, folders: Sequence[Path]) -> None:
    """Replace each `input: {file: PATH}` of a document by the file's text, as `csv`.

    A request may come from somebody else (a pull request), and its inputs go into a database and
    into reports. So it names files in the folders given, or below them, links resolved.

    Args:
        document: The document; it is changed in place.
        folders: Where inputs may lie; paths are relative to the first.

    Raises:
        UsageError: A file lies elsewhere or cannot be read, or all of them are too long together.
    """
    characters = 0
    for given in _find_inputs(document.root):
        for place, pair in enumerate(given.value):
            given.value[place] = _, text = _read_input(document, pair, folders)
            characters += len(text.value)
            if characters > MAX_CHARACTERS:
                problem = f"inputs are longer than {MAX_CHARACTERS} characters together"
                raise _refuse_input(document, given, problem)


def _find_inputs(root: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Yield the mappings that are called `input`.

    It looks at each node once: a document of a few lines can name the same node a billion times
    by aliases.
    """
    seen = {id(root)}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for _, part in node.value]
            for name, part in node.value:
                if name.value == "input" and isinstance(part, yaml.MappingNode):
                    yield part
        waiting += [part for part in parts if id(part) not in seen]
        seen.update(map(id, parts))


def _read_input(
    document: Document, pair: tuple[yaml.Node, yaml.Node], folders: Sequence[Path]
) -> tuple[yaml.Node, yaml.Node]:
    key, value = pair
    if key.value != "file" or not isinstance(value, yaml.ScalarNode):
        return pair
    path = folders[0] / value.value
    try:
        file = resolve_links(path)
    except ValueError:  # a NUL, for instance
        raise _refuse_input(document, value, f"{value.value!r} is not a file name") from None
    if not any(file.is_relative_to(folder) for folder in map(resolve_links, folders)):
        problem = f"{value.value!r} lies outside of the folder of this file"
        raise _refuse_input(document, value, f"{problem}; --allow-files DIR allows it")
    text = read_text(path)
    marks = value.start_mark, value.end_mark
    return yaml.ScalarNode(_TEXT, "csv", *marks), yaml.ScalarNode(_TEXT, text, *marks)


def _refuse_input(document: Document, node: yaml.Node, problem: str) -> UsageError:
    return UsageError(Complaint((), problem, place=document.locate(node)))

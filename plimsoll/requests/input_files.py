"""Files that a request's file names by a path relative to itself: inputs and workloads."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import yaml

from plimsoll.complaints import Complaint
from plimsoll.documents import MAX_CHARACTERS, Document, read_document, read_text
from plimsoll.errors import UsageError
from plimsoll.files import resolve_links
from plimsoll.workload import parse_workload
from plimsoll.workload.pgbench.schema import read_schema
from plimsoll.workload.pgbench.workload import FIELD, load_scripts, names_scripts

_TEXT = "tag:yaml.org,2002:str"
_Pair = tuple[yaml.Node, yaml.Node]
# mappings that may name a file, and the field that does
_NAMING = {"input": "file", "workload": "file", "prepare": "schema"}


def read_named_files(document: Document, folders: Sequence[Path]) -> None:
    """Replace each file that a document names by what is in it.

    `input: {file: PATH}` of a phase becomes `csv`, `workload: {file: PATH}` becomes `definition`,
    and `prepare: {schema: PATH}` becomes `schema_sql`, so that a request is whole once it was read.

    A request may come from somebody else (a pull request), and its inputs go into a database and
    into reports. So it names files in the folders given, or below them, links resolved.

    Args:
        document: The document; it is changed in place.
        folders: The folders in which files may lie; relative paths start at the first.

    Raises:
        UsageError: A file lies elsewhere, cannot be read, is no workload or no schema, or all of
            them are too long together.
    """
    characters = 0

    def read(name: str, value: yaml.ScalarNode, file: str) -> str:
        nonlocal characters
        text = read_text(_require_allowed(document, value, file, folders))
        characters += len(text)
        if characters > MAX_CHARACTERS:
            problem = f"{name}s are longer than {MAX_CHARACTERS} characters together"
            raise _refuse(document, value, problem)
        return text

    for name, given in list(_find_mappings(document.root, {*_NAMING})):
        for place, (key, value) in enumerate(given.value):
            if key.value != _NAMING[name] or not isinstance(value, yaml.ScalarNode):
                continue
            file = str(value.value)
            if name == "input":
                made = _make_text("csv", value, read(name, value, file))
            elif name == "prepare":
                text = read("schema", value, file)
                read_schema(text, source=str(folders[0] / file))
                made = _make_text("schema_sql", value, text)
            elif names_scripts(file):
                made = _make_definition(
                    value, load_scripts(file, partial(read, name, value)).document
                )
            else:
                source, text = str(folders[0] / file), read(name, value, file)
                parse_workload(text, source=source)
                made = _make_definition(value, read_document(text, source))
            given.value[place] = made


def _find_mappings(root: yaml.Node, names: set[str]) -> Iterator[tuple[str, yaml.MappingNode]]:
    """Yield the mappings that have one of these names, with their name.

    It looks at each node once: a document of a few lines can name the same node a billion times
    by aliases.
    """
    seen = {id(root)}
    found: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for _, part in node.value]
            for name, part in node.value:
                named = isinstance(name, yaml.ScalarNode) and name.value in names
                if named and isinstance(part, yaml.MappingNode) and id(part) not in found:
                    found.add(id(part))
                    yield name.value, part
        waiting += [part for part in parts if id(part) not in seen]
        seen.update(map(id, parts))


def _require_allowed(
    document: Document, value: yaml.ScalarNode, name: str, folders: Sequence[Path]
) -> Path:
    path = folders[0] / name
    try:
        file = resolve_links(path)
    except ValueError:  # a NUL, for instance
        raise _refuse(document, value, f"{name!r} is not a file name") from None
    if not any(file.is_relative_to(folder) for folder in map(resolve_links, folders)):
        problem = f"{name!r} lies outside of the folder of this file"
        raise _refuse(document, value, f"{problem}; --allow-files DIR allows it")
    return path


def _make_text(field: str, value: yaml.Node, text: str) -> _Pair:
    marks = value.start_mark, value.end_mark
    return yaml.ScalarNode(_TEXT, field, *marks), yaml.ScalarNode(_TEXT, text, *marks)


def _make_definition(value: yaml.Node, workload: Document) -> _Pair:
    """Return a checked workload as `definition`, which has its file's name if it has none."""
    root = workload.root
    assert isinstance(root, yaml.MappingNode)  # noqa: S101 - a workload is one
    marks = value.start_mark, value.end_mark
    if not {name.value for name, _ in root.value} & {"name", FIELD}:
        name = Path(workload.source).name.removesuffix(".yaml")
        pair = yaml.ScalarNode(_TEXT, "name", *marks), yaml.ScalarNode(_TEXT, name, *marks)
        root.value.insert(0, pair)
    _move(root, value)
    return yaml.ScalarNode(_TEXT, "definition", *marks), root


def _move(root: yaml.Node, where: yaml.Node) -> None:
    """Give all nodes of another file the place that names the file, for errors found later."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        node.start_mark, node.end_mark = where.start_mark, where.end_mark
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _refuse(document: Document, node: yaml.Node, problem: str) -> UsageError:
    return UsageError(Complaint((), problem, place=document.locate(node)))

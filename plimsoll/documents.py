"""YAML documents: their plain values, and the line of each part.

A check of such a value raises a `UsageError` whose complaints name fields; the document adds its
name and the line.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import yaml

from plimsoll.complaints import Complaint, FieldPath, Place, repeat_value
from plimsoll.errors import UsageError
from plimsoll.files import read_limited
from plimsoll.words import escape_values

MAX_CHARACTERS = 262_144
MAX_BYTES = 4 * MAX_CHARACTERS  # a character takes up to four bytes in UTF-8
MAX_PARTS = 50_000  # largest document in parts, with every alias expanded
_JOINED_DEPTH = 4  # a workload's operations, their fields, and their `let`
MAX_DEPTH = 100  # deepest nesting of lists and mappings; the deepest workload has about ten levels

# A JSON string. What is matched is not given back (`+`): remembering it takes 100 bytes a character
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
T = TypeVar("T")
Parts = dict[str | int, tuple[yaml.Node, yaml.Node]]
_TAG = "tag:yaml.org,2002:"
_OTHER_TAGS = {
    "tag:yaml.org,2002:timestamp": "a date: put it in quotes",
    "tag:yaml.org,2002:binary": "binary data",
}
_PLAIN_TAGS = {
    yaml.ScalarNode: {_TAG + kind for kind in ("str", "int", "float", "bool", "null")},
    yaml.SequenceNode: {_TAG + "seq"},
    yaml.MappingNode: {_TAG + "map"},
}


def is_deeper(text: str, most: int = MAX_DEPTH) -> bool:
    """Return whether a JSON text is nested deeper than a limit, without parsing it.

    A parser's own limit depends on how deep its caller's stack is, or it overflows the stack.
    """
    depth = 0
    rest = _STRING.sub("", text).encode(errors="replace")
    for bracket in rest.translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > most:
            return True
    return False


def parse_foreign_json(raw: bytes) -> Any:
    """Parse JSON that somebody else sent; control characters in its texts are made visible.

    Raises:
        ValueError: It is no JSON, or is nested too deeply.
    """
    text = raw.decode()
    if is_deeper(text):
        raise ValueError("nested too deeply")
    return escape_values(json.loads(text))


@dataclass(frozen=True)
class Document:
    """A YAML document.

    Attributes:
        root: parsed node tree, with positions.
        source: name in errors: a file's name, or a request's field.
        has_lines: whether errors name lines; False if the user did not write the text of `root`.
    """

    root: yaml.Node
    source: str
    has_lines: bool = True

    @cached_property
    def value(self) -> Any:
        """The document as mappings, lists, text, numbers, true, false and None.

        Raises:
            UsageError: A name occurs twice, a tag requests another type, or there are too many
                parts.
        """
        counted = count(1)
        characters = 0
        constructor = yaml.constructor.SafeConstructor()

        def build(node: yaml.Node, path: FieldPath) -> Any:
            nonlocal characters
            if len(path) > MAX_DEPTH:
                raise self._refusal(self.root, (), "nested too deeply")
            if next(counted) > MAX_PARTS:
                raise self._refusal(node, path, f"more than {MAX_PARTS} parts, aliases counted out")
            if node.tag not in _PLAIN_TAGS[type(node)]:
                given = _OTHER_TAGS.get(node.tag, f"a {node.tag}")
                problem = f"must be a single value, a list or a mapping, not {given}"
                raise self._refusal(node, path, problem)
            if isinstance(node, yaml.SequenceNode):
                return [build(part, (*path, index)) for index, part in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode):
                return {
                    name: build(part, (*path, name)) for name, part in self._read_fields(node, path)
                }
            characters += len(node.value)
            if characters > MAX_CHARACTERS:
                problem = f"longer than {MAX_CHARACTERS} characters, aliases written out"
                raise self._refusal(node, path, problem)
            try:
                return constructor.construct_object(node)
            except (ValueError, LookupError):
                kind = node.tag.removeprefix(_TAG)
                raise self._refusal(
                    node, path, f"{repeat_value(node.value)} is no {kind}"
                ) from None

        return build(self.root, ())

    def check(self, check: Callable[[dict[str, Any]], T]) -> T:
        """Check the document's value, which must be a mapping, and return the result of the check.

        Raises:
            UsageError: The value is invalid; each complaint names its line.
        """
        if not isinstance(self.value, dict):
            raise self._refusal(self.root, (), "must be a mapping")
        try:
            return check(self.value)
        except UsageError as error:
            raise self.locate_complaints(error) from None

    def locate_complaints(self, error: UsageError) -> UsageError:
        """Add the position of the value to each complaint that has none.

        It is the position of the deepest existing part on the complaint's path.
        """
        return UsageError(*dict.fromkeys(map(self._locate_complaint, error.complaints)))

    def _locate_complaint(self, complaint: Complaint) -> Complaint:
        if complaint.place is not None:
            return complaint
        named = node = self.root
        for name in complaint.path:
            parts = list_node_parts(node)
            if name not in parts:
                break
            named, node = parts[name]
        return replace(complaint, place=self.locate(named))

    def _read_fields(
        self, node: yaml.MappingNode, path: FieldPath
    ) -> Iterator[tuple[str, yaml.Node]]:
        seen = set()
        for name, part in node.value:
            if not isinstance(name, yaml.ScalarNode) or name.value == "<<":
                raise self._refusal(name, path, "a field's name must be plain text")
            if name.value in seen:
                raise self._refusal(name, (*path, name.value), "is given twice")
            seen.add(name.value)
            yield name.value, part

    def _refusal(self, node: yaml.Node, path: FieldPath, problem: str) -> UsageError:
        return UsageError(Complaint(path, problem, place=self.locate(node)))

    def extend(self, base: "Document", field: str) -> "Document":
        """Return the document with the parts of another one that it does not have.

        Mappings are joined name by name, `_JOINED_DEPTH` levels deep; a null leaves a part out. A
        complaint about a part of the other document has the line of the field that names it.
        """
        named = list_node_parts(self.root)[field][0]
        own = [pair for pair in self.root.value if pair[0] is not named]
        root = yaml.MappingNode(self.root.tag, own, self.root.start_mark, self.root.end_mark)
        return replace(self, root=_join(_place_at(base.root, named), root, _JOINED_DEPTH))

    def locate(self, node: yaml.Node) -> Place:
        """Return the position of a part."""
        return Place(self.source, node.start_mark.line + 1 if self.has_lines else None)


class _TooDeepError(yaml.YAMLError):
    """Lists and mappings are nested deeper than `MAX_DEPTH`."""


class _Loader(yaml.SafeLoader):
    """A YAML loader that composes nodes and limits their depth."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.depth > MAX_DEPTH:
            raise _TooDeepError
        self.depth += 1
        try:
            node: yaml.Node | None = super().compose_node(parent, index)
        finally:
            self.depth -= 1
        return node


def list_node_parts(node: yaml.Node) -> Parts:
    """Return the name or index of each part of a node, with the part and the node that names it."""
    if isinstance(node, yaml.MappingNode):
        return {name.value: (name, part) for name, part in node.value}
    if isinstance(node, yaml.SequenceNode):
        return {index: (part, part) for index, part in enumerate(node.value)}
    return {}


def _place_at(node: yaml.Node, place: yaml.Node) -> yaml.Node:
    """Return a copy of a node, with its parts, all of which stand where another one does."""
    value = node.value
    if isinstance(node, yaml.MappingNode):
        value = [tuple(_place_at(each, place) for each in pair) for pair in value]
    elif isinstance(node, yaml.SequenceNode):
        value = [_place_at(each, place) for each in value]
    return type(node)(node.tag, value, place.start_mark, place.end_mark)


def _join(base: yaml.Node, own: yaml.Node, depth: int) -> yaml.Node:
    """Return a mapping's parts and those of `base` that it does not have; any other node itself."""
    if not (depth and isinstance(own, yaml.MappingNode) and isinstance(base, yaml.MappingNode)):
        return own
    joined = list_node_parts(base)
    for name, (named, part) in list_node_parts(own).items():
        if name not in joined:
            joined[name] = (named, part)
        elif part.tag == f"{_TAG}null":
            del joined[name]
        else:  # at its place: the values of `let` use those before them
            joined[name] = (named, _join(joined[name][1], part, depth - 1))
    return yaml.MappingNode(own.tag, [*joined.values()], own.start_mark, own.end_mark)


def read_document(text: str, source: str) -> Document:
    """Parse a YAML document without creating the objects that its tags name.

    Raises:
        UsageError: The document is too large, empty, or not YAML.
    """
    line, problem = None, "is empty"
    try:
        if len(text) > MAX_CHARACTERS:
            problem = f"longer than {MAX_CHARACTERS} characters"
        elif root := yaml.compose(text, Loader=_Loader):
            return Document(root, source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, problem = mark.line + 1 if mark else None, f"not YAML: {error.problem}"
    except _TooDeepError:
        problem = "nested too deeply"
    except yaml.YAMLError as error:
        problem = f"not YAML: {' '.join(str(error).split())}"
    raise UsageError(Complaint((), problem, place=Place(source, line)))


def make_document(value: Mapping[str, Any], source: str) -> tuple[Document, str]:
    """Create a document from plain values, as in a request; its errors name no line.

    Returns:
        The document, and its YAML text.

    Raises:
        UsageError: A value is of a type that plain YAML does not have.
    """
    try:
        text = yaml.safe_dump(dict(value), allow_unicode=True, sort_keys=False)
    except (yaml.YAMLError, RecursionError):
        problem = "holds something that is not a plain value"
        raise UsageError(Complaint((), problem, place=Place(source))) from None
    return replace(read_document(text, source), has_lines=False), text


def read_text(path: Path) -> str:
    """Read a document's text from a file or a pipe.

    Raises:
        UsageError: The file cannot be read, is too large for a document, or is not UTF-8.
    """
    raw = read_limited(path, bytes_max=MAX_BYTES)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise UsageError(
            Complaint((), "is not UTF-8 text: save it as UTF-8", place=Place(str(path)))
        ) from None

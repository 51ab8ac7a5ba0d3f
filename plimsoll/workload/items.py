"""Reading YAML strictly: every error names the file, the line and the field."""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from plimsoll.complaints import Complaint, FieldPath, Place, Range, Scalar, missing, unknown
from plimsoll.errors import WorkloadError

MAX_CHARACTERS = 262_144

TEXT = "tag:yaml.org,2002:str"
_KINDS = {
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    TEXT: "text",
    "tag:yaml.org,2002:map": "a mapping",
    "tag:yaml.org,2002:seq": "a list",
}


@dataclass(frozen=True)
class Item:
    """A node of a YAML document with its place in it.

    Attributes:
        node: The value.
        source: What the document is called.
        path: The way to the value, such as ("operations", "read", "weight").
        key: The name before it, where it has one.
    """

    node: yaml.Node
    source: str
    path: FieldPath = ()
    key: yaml.Node | None = None

    @property
    def place(self) -> Place:
        """Where it was written: the line of its key, or else its own."""
        mark = (self.key or self.node).start_mark
        return Place(self.source, None if mark is None else mark.line + 1)

    def error(
        self, problem: str, *, allowed: tuple[str, ...] | Range | None = None, listed: bool = True
    ) -> WorkloadError:
        """Build the error that names this place, and the single value that stands there."""
        value: Scalar = None
        if isinstance(self.node, yaml.ScalarNode):
            with suppress(ValueError, yaml.YAMLError):
                value = yaml.SafeLoader("").construct_object(self.node)
        value = value if isinstance(value, str | int | float) else None
        return WorkloadError(
            Complaint(self.path, problem, value, allowed, self.place, listed=listed)
        )

    def unknown(
        self,
        what: str,
        name: str,
        allowed: Collection[str],
        *,
        value: Scalar = None,
        hint: str = "",
    ) -> WorkloadError:
        """Build the error that names this place, at which a name is not known."""
        place = self.place
        return WorkloadError(
            unknown(what, name, allowed, self.path, value=value, place=place, hint=hint)
        )

    def child(self, key: yaml.Node, node: yaml.Node, name: str) -> "Item":
        """Step down to a named part; its errors name the line of its key."""
        return Item(node, self.source, (*self.path, name), key)

    def entries(self) -> dict[str, "Item"]:
        """Read a mapping of names that are free; refuse a name that comes twice."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must be a mapping, not {self.kind}")
        found: dict[str, Item] = {}
        for key, value in self.node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                raise self.child(key, key, "?").error("a field's name must be plain text")
            entry = self.child(key, value, key.value)
            if key.value in found:
                raise entry.error("is there twice")
            found[key.value] = entry
        return found

    def fields(self, *required: str, optional: Collection[str] = ()) -> dict[str, "Item"]:
        """Read a mapping of known fields; refuse unknown and missing ones."""
        found = self.entries()
        allowed = [*required, *optional]
        for name, item in found.items():
            if name not in allowed:
                raise item.unknown("field", name, allowed)
        for name in required:
            if name not in found:
                raise WorkloadError(missing((*self.path, name), self.place))
        return found

    def sequence(self) -> list["Item"]:
        """Read a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"must be a list, not {self.kind}")
        return [
            Item(node, self.source, (*self.path, index))
            for index, node in enumerate(self.node.value)
        ]

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return _KINDS.get(self.node.tag, f"a {self.node.tag}")

    def scalar(self) -> Scalar:
        """Read a single value."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag not in _KINDS:
            raise self.error(f"must be a single value, not {self.kind}")
        try:
            value: Scalar = yaml.SafeLoader("").construct_object(self.node)
        except ValueError:
            raise self.error(f"{self.node.value!r} is not {self.kind}") from None
        return value

    def text(self, *, empty: bool = False) -> str:
        """Read text."""
        value = self.scalar()
        if not isinstance(value, str):
            raise self.error(f"must be text, not {self.kind}")
        if not value.strip() and not empty:
            raise self.error("must not be empty")
        return value

    def boolean(self) -> bool:
        """Read true or false."""
        value = self.scalar()
        if not isinstance(value, bool):
            raise self.error(f"must be true or false, not {self.kind}")
        return value

    def integer(self, low: int, high: int) -> int:
        """Read a whole number from `low` to `high`, both included."""
        value = self.scalar()
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"must be a whole number, not {self.kind}")
        if not low <= value <= high:
            raise self.error(
                f"must be from {low} to {high}, not {value}",
                allowed=Range(low, high),
                listed=False,
            )
        return value

    def number(self, low: float, high: float) -> float:
        """Read a number from `low` to `high`, both included."""
        value = self.scalar()
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.error(f"must be a number, not {self.kind}")
        if not low <= value <= high:  # also refuses what is not a number
            raise self.error(
                f"must be from {low:g} to {high:g}, not {value}",
                allowed=Range(low, high),
                listed=False,
            )
        return float(value)

    def one_of(self, allowed: Collection[str], what: str) -> str:
        """Read one of some words."""
        value = self.text()
        if value not in allowed:
            raise self.unknown(what, value, allowed, value=value)
        return value

    def name(self) -> str:
        """Check that the last part of the path can name a table, a column or a parameter."""
        name = str(self.path[-1])
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,55}", name):
            raise self.error("a name has letters, digits and _, up to 56, and no digit first")
        return name


def read_document(text: str, source: str) -> Item:
    """Parse one YAML document without building what its tags name.

    Raises:
        WorkloadError: It is too large or not YAML.
    """
    if len(text) > MAX_CHARACTERS:
        raise WorkloadError(
            Complaint((), f"longer than {MAX_CHARACTERS} characters", place=Place(source))
        )
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(source, mark.line + 1 if mark else None)
        raise WorkloadError(Complaint((), f"not YAML: {error.problem}", place=place)) from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).replace("\n", " ") or "nested too deeply"
        raise WorkloadError(Complaint((), f"not YAML: {reason}", place=Place(source))) from None
    if node is None:
        raise WorkloadError(Complaint((), "is empty", place=Place(source)))
    return Item(node, source)


def from_python(value: Mapping[str, Any], source: str) -> tuple[Item, str]:
    """Take a document that comes as Python values, as in a request; its errors name no line.

    Returns:
        The document, and how it is written in YAML.

    Raises:
        WorkloadError: It holds something that YAML's plain types do not.
    """
    try:
        text = yaml.safe_dump(dict(value), allow_unicode=True, sort_keys=False)
    except (yaml.YAMLError, RecursionError):
        problem = "holds something that is no plain value"
        raise WorkloadError(Complaint((), problem, place=Place(source))) from None
    return Item(_unmarked(read_document(text, source).node), source), text


def text_item(text: str, source: str, path: str) -> Item:
    """Take a piece of text that comes from elsewhere, an option say, as part of a document."""
    return Item(yaml.ScalarNode(TEXT, text), source, (path,))


def _unmarked(node: yaml.Node) -> yaml.Node:
    node.start_mark = None
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _unmarked(key)
            _unmarked(value)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _unmarked(part)
    return node

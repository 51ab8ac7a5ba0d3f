"""Parameters: what a user may set of a workload, and where a document refers to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

import yaml

from plimsoll.complaints import Complaint, Range, Scalar, unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine import Consistency
from plimsoll.workload.distributions import read_distribution
from plimsoll.workload.items import TEXT, Item, text_item

MAX_NODES = 50_000  # bounds what aliases may expand to

_REFERENCE = re.compile(
    r"\$(?P<name>[a-z][a-z0-9_]*)(?: (?P<operator>[-+*/]) (?P<number>\d{1,12}))?"
)


@dataclass(frozen=True)
class Parameter:
    """Something of a workload that a user may set.

    Attributes:
        kind: `number`, `distribution`, `consistency` (of CQL alone) or `word`: what it takes.
        allowed: Lowest and highest number, or the words.
    """

    name: str
    about: str
    default: Scalar
    kind: str
    allowed: tuple[Scalar, ...]
    item: Item

    def check(self, value: Scalar, item: Item | None = None) -> Scalar:
        """Return the value as it is used.

        Raises:
            WorkloadError: It is not allowed.
        """
        path, place = (item.path, item.place) if item else ((self.name,), None)

        def refuse(problem: str, allowed: Range | None = None) -> WorkloadError:
            return WorkloadError(Complaint(path, problem, value, allowed, place, listed=False))

        if self.kind == "number":
            low, high = self.allowed
            text = str(value)
            number = int(text) if text.removeprefix("-").isdecimal() else None
            least, most = int(str(low)), int(str(high))
            if number is None or not least <= number <= most:
                problem = f"must be a whole number from {low} to {high}, not {value!r}"
                raise refuse(problem, Range(least, most))
            return number
        if not isinstance(value, str):
            raise refuse(f"must be text, not {value!r}")
        if self.kind in {"word", "consistency"} and value not in self.allowed:
            words = [str(word) for word in self.allowed]
            raise WorkloadError(unknown("choice", value, words, path, value=value, place=place))
        if self.kind == "distribution":
            try:
                read_distribution(item or text_item(value, "parameters", self.name))
            except WorkloadError as error:
                raise WorkloadError(*(replace(c, place=place) for c in error.complaints)) from None
        return value


def read_parameters(fields: dict[str, Item]) -> dict[str, Parameter]:
    """Read the parameters that a document declares.

    Raises:
        WorkloadError: One of them cannot be, or its default is not allowed.
    """
    entries = fields["parameters"].entries() if "parameters" in fields else {}
    parameters = {}
    for name, item in entries.items():
        parts = item.fields("about", "default", optional=("range", "words", "kind"))
        if item.name() == "records" or not name.islower():
            raise item.error("a parameter's name is in lower case, and not 'records'")
        allowed: tuple[Scalar, ...] = ()
        if "range" in parts:
            bounds = [part.integer(-(2**53), 2**53) for part in parts["range"].sequence()]
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise parts["range"].error("must be [lowest, highest]")
            kind, allowed = "number", tuple(bounds)
        elif "words" in parts:
            kind = "word"
            allowed = tuple(part.text() for part in parts["words"].sequence())
        else:
            if "kind" not in parts:
                raise item.error(
                    "needs a 'range', 'words', or 'kind: distribution' or 'consistency'"
                )
            kind = parts["kind"].one_of(("distribution", "consistency"), "kind")
            allowed = get_args(Consistency) if kind == "consistency" else ()
        parameter = Parameter(
            name=name,
            about=parts["about"].text(),
            default=parts["default"].scalar(),
            kind=kind,
            allowed=allowed,
            item=parts["default"],
        )
        parameter.check(parameter.default, parameter.item)
        parameters[name] = parameter
    return parameters


def substitute(item: Item, parameters: Mapping[str, Scalar]) -> Item:
    """Replace each `$name`, `$name + 1`, `$name * 3` ... by the parameter's value.

    Raises:
        WorkloadError: There is no such parameter, or arithmetic on what is no whole number, or
            aliases that expand without end.
    """
    budget = [MAX_NODES]

    def visit(node: yaml.Node) -> yaml.Node:
        budget[0] -= 1
        if budget[0] < 0:
            raise item.error(f"more than {MAX_NODES} parts, aliases counted out")
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, visit(value)) for key, value in node.value]
            return yaml.MappingNode(node.tag, pairs, node.start_mark, node.end_mark)
        if isinstance(node, yaml.SequenceNode):
            parts = [visit(part) for part in node.value]
            return yaml.SequenceNode(node.tag, parts, node.start_mark, node.end_mark)
        reference = _REFERENCE.fullmatch(node.value) if node.tag == TEXT else None
        return _replaced(Item(node, item.source), reference, parameters) if reference else node

    try:
        return Item(visit(item.node), item.source, item.path, item.key)
    except RecursionError:
        raise item.error("nested too deeply") from None


def referenced(item: Item) -> set[str]:
    """Name the parameters that a document refers to, once `substitute` has bounded it."""

    def visit(node: yaml.Node) -> set[str]:
        if isinstance(node, yaml.MappingNode):
            return set().union(*(visit(value) for _, value in node.value))
        if isinstance(node, yaml.SequenceNode):
            return set().union(*(visit(part) for part in node.value))
        match = _REFERENCE.fullmatch(node.value) if node.tag == TEXT else None
        return {match["name"]} if match else set()

    return visit(item.node)


def _replaced(
    item: Item, reference: re.Match[str], parameters: Mapping[str, Scalar]
) -> yaml.ScalarNode:
    name = reference["name"]
    if name not in parameters:
        raise item.unknown("parameter", f"${name}", [f"${known}" for known in parameters])
    value = parameters[name]
    if operator := reference["operator"]:
        if not isinstance(value, int) or isinstance(value, bool):
            raise item.error(f"arithmetic needs a whole number: ${name} is {value!r}")
        number = int(reference["number"])
        if operator == "/" and number == 0:
            raise item.error("divides by zero")
        value = {
            "+": lambda: value + number,
            "-": lambda: value - number,
            "*": lambda: value * number,
            "/": lambda: value // number,
        }[operator]()
    node = yaml.representer.SafeRepresenter().represent_data(value)
    return yaml.ScalarNode(node.tag, node.value, item.node.start_mark, item.node.end_mark)

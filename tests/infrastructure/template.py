"""Synthesized templates, and looking into them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "plimsoll" / "targets" / "templates"  # as they are committed


@cache
def read_schemas() -> Mapping[str, Any]:
    """The schema of each resource type of CloudFormation (cfn-lint's copy)."""
    import cfnlint  # type: ignore[import-untyped]  # it has no types

    folder = Path(cfnlint.__file__).parent / "data" / "schemas" / "resources"
    schemas = (json.loads(path.read_text()) for path in folder.glob("*.json"))
    return {schema.get("typeName"): schema for schema in schemas}


@dataclass(frozen=True)
class Template:
    """A synthesized stack."""

    name: str
    path: Path
    body: Mapping[str, Any]
    warnings: tuple[str, ...] = ()  # of the synthesis

    def of_type(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Its resources of a type, by logical id."""
        found = self.body["Resources"].items()
        return {name: resource for name, resource in found if resource["Type"] == kind}

    def only(self, kind: str) -> Mapping[str, Any]:
        """The properties of the one resource of a type."""
        (resource,) = self.of_type(kind).values()
        properties: Mapping[str, Any] = resource.get("Properties", {})
        return properties

    def function(self, name: str) -> Mapping[str, Any]:
        """The properties of a function, by its name in the table of functions."""
        for resource in self.of_type("AWS::Lambda::Function").values():
            properties: Mapping[str, Any] = resource["Properties"]
            if properties.get("FunctionName") == f"plimsoll-{name}":
                return properties
        raise KeyError(name)


def walk(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value within a value, with its path."""
    yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from walk(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}/{index}")


def as_list(value: Any) -> list[Any]:
    """A list of one, where CloudFormation lets the list be left out."""
    return value if isinstance(value, list) else [value]


class Resolved:
    """A template as CloudFormation would act on it with these parameters.

    It knows Ref, Fn::Sub, Fn::If, Fn::Equals, Fn::Not and Fn::GetAtt: what the targets use. Any
    other intrinsic, and a name that is not there, is a KeyError.
    """

    NOTHING = object()

    def __init__(self, body: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        self._body = body
        declared = body["Parameters"]
        unknown = set(parameters) - set(declared)
        assert not unknown, f"no such parameter: {unknown}"
        self._values = {
            name: parameters.get(name, rules.get("Default")) for name, rules in declared.items()
        }
        for name, rules in declared.items():
            value = self._values[name]
            assert value is not None, f"{name} has neither value nor default"
            if "AllowedPattern" in rules:
                assert re.fullmatch(rules["AllowedPattern"], value), (name, value)
            if "AllowedValues" in rules:
                assert value in rules["AllowedValues"], (name, value)
        self.resources = {
            name: self.value(resource.get("Properties", {}))
            for name, resource in body["Resources"].items()
            if "Condition" not in resource or self._condition(resource["Condition"])
        }
        self.outputs = {name: self.value(o["Value"]) for name, o in body["Outputs"].items()}

    def value(self, given: Any) -> Any:
        """Resolve a value; properties and items of no value are left out."""
        if isinstance(given, list):
            return [v for v in map(self.value, given) if v is not self.NOTHING]
        if not isinstance(given, Mapping):
            return given
        if len(given) == 1:
            ((key, argument),) = given.items()
            if key == "Ref" or key.startswith("Fn::"):
                return self._intrinsic(key, argument)
        inner = {key: self.value(v) for key, v in given.items()}
        return {key: v for key, v in inner.items() if v is not self.NOTHING}

    def _intrinsic(self, key: str, argument: Any) -> Any:
        if key == "Ref":
            return self._ref(argument)
        if key == "Fn::Sub":
            text, own = argument if isinstance(argument, list) else (argument, {})
            told = {name: self.value(given) for name, given in own.items()}
            return re.sub(
                r"\$\{([\w:]+)\}",
                lambda m: str(told[m[1]] if m[1] in told else self._ref(m[1])),
                text,
            )
        if key == "Fn::If":
            return self.value(argument[1] if self._condition(argument[0]) else argument[2])
        if key == "Fn::GetAtt":
            assert argument[0] in self._body["Resources"], f"no such resource: {argument[0]}"
            return ".".join(argument)
        if key == "Fn::Base64":
            return self.value(argument)
        if key == "Fn::Join":
            return argument[0].join(str(self.value(part)) for part in argument[1])
        raise KeyError(key)

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return self.NOTHING
        if name.startswith("AWS::"):
            return f"<{name}>"
        if name in self._body["Resources"]:
            return f"<{name}>"
        return self._values[name]

    def _condition(self, name: str) -> bool:
        return self._truth(self._body["Conditions"][name])

    def _truth(self, given: Mapping[str, Any]) -> bool:
        ((key, argument),) = given.items()
        if key == "Fn::Not":
            return not self._truth(argument[0])
        if key == "Fn::Equals":
            return bool(self.value(argument[0]) == self.value(argument[1]))
        raise KeyError(key)

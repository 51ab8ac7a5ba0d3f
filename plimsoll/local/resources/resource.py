"""Base class of the resource types in target templates, in the form that moto requires."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar, Self

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel

from plimsoll.errors import UsageError


class Resource(CloudFormationModel):
    """One resource.

    Attributes:
        TYPE: CloudFormation's name of its type.
        NAME_PROPERTY: The property that holds its name; empty if there is none.
        PROPERTIES: Properties that are implemented, or that change nothing on one machine.
        ATTRIBUTES: Attributes that a template may use.
        physical_resource_id: The resource's name.
    """

    TYPE: ClassVar[str] = ""
    NAME_PROPERTY: ClassVar[str] = ""
    PROPERTIES: ClassVar[Set[str]] = frozenset()
    ATTRIBUTES: ClassVar[Set[str]] = frozenset()

    def __init__(self, name: str, attributes: Mapping[str, str] | None = None) -> None:
        self.physical_resource_id = name
        self._attributes = attributes or {}

    @classmethod
    def make(cls, name: str, properties: Mapping[str, Any]) -> Self:
        """Create it.

        Args:
            name: The name that CloudFormation chose.
            properties: The properties, all of them among `PROPERTIES`.

        Raises:
            PlimsollError: It cannot be created.
        """
        del properties
        return cls(name)

    def remove(self) -> None:
        """Remove it."""

    @classmethod
    def cloudformation_name_type(cls) -> str:
        """Return the property that holds its name."""
        return cls.NAME_PROPERTY

    @classmethod
    def cloudformation_type(cls) -> str:
        """Return the type's name."""
        return cls.TYPE

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Return whether a template may use an attribute."""
        return attr in cls.ATTRIBUTES

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Return an attribute."""
        if attribute_name not in self.ATTRIBUTES:
            raise UnformattedGetAttTemplateException
        return self._attributes[attribute_name]

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> Self:
        """Check its properties and create it."""
        properties = cloudformation_json["Properties"]
        check_properties(properties, cls.PROPERTIES, cls.TYPE)
        return cls.make(resource_name, properties)

    def delete(self, account_id: str, region_name: str) -> None:
        """Remove it."""
        del account_id, region_name
        self.remove()


def check_properties(given: Iterable[str], known: Set[str], kind: str) -> None:
    """Refuse a property that would be ignored.

    Raises:
        UsageError: A property is unknown; the message names the first one.
    """
    if unknown := sorted(set(given) - known):
        raise UsageError(f"Encountered unsupported property {unknown[0]} ({kind}, on one machine)")

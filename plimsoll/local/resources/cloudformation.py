"""CloudFormation: stacks that take time, fail as AWS's do, and are deleted again.

moto creates everything within the request, ignores resource types that it does not know, and leaves
a stack whose resource fails in CREATE_IN_PROGRESS. States and events:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html; OnFailure:
https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
"""

import copy
import re
import threading
from collections.abc import Mapping
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend, Event, Stack
from moto.cloudformation.responses import CloudFormationResponse

from plimsoll.local.replacing import replace_members
from plimsoll.local.resources.ec2_resources import EC2_RESOURCES, Instance
from plimsoll.local.resources.rds_resources import RDS_RESOURCES, DatabaseInstance
from plimsoll.local.resources.registry import Databases
from plimsoll.local.resources.snapshots import Snapshots

RESOURCES = {resource.TYPE: resource for resource in (*RDS_RESOURCES, *EC2_RESOURCES)}

_creating = threading.local()  # only the thread that creates a stack creates resources
_original_lookup = parsing.ResourceMap.__getitem__
_original_outputs: Any = Stack.outputs
_original_describe = CloudFormationBackend.describe_stacks
_original_create: Any = CloudFormationResponse.create_stack
_original_class = parsing.resource_class_from_type
_original_name_property = parsing.resource_name_property_from_type


def check_template(template: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
    """Refuse what CloudFormation, or this machine, refuses before anything is created.

    Raises:
        ValidationError: The template is refused, in CloudFormation's words if CloudFormation would
            refuse it.
    """
    types = {resource["Type"] for resource in template.get("Resources", {}).values()}
    if unknown := sorted(types - set(RESOURCES)):
        known = ", ".join(sorted(RESOURCES))
        raise ValidationError(
            message=f"Unrecognized resource types: [{', '.join(unknown)}]; one machine has: {known}"
        )
    declared = template.get("Parameters", {})
    if strange := sorted(set(parameters) - set(declared)):
        raise ValidationError(
            message=f"Parameters: [{', '.join(strange)}] do not exist in the template"
        )
    for name, value in parameters.items():
        _check_parameter(name, str(value), declared[name])


def _check_parameter(name: str, value: str, rules: Mapping[str, Any]) -> None:
    allowed = rules.get("AllowedValues")
    if allowed is not None and value not in [str(choice) for choice in allowed]:
        listed = ", ".join(map(str, allowed))
        raise ValidationError(message=f"Parameter '{name}' must be one of AllowedValues: {listed}")
    pattern = rules.get("AllowedPattern")
    if pattern is not None and not re.fullmatch(pattern, value):
        raise ValidationError(message=f"Parameter {name} failed to satisfy constraint: {pattern}")
    if len(value) < int(rules.get("MinLength", 0)):
        raise ValidationError(
            message=f"Parameter '{name}' must contain at least MinLength characters"
        )
    if len(value) > int(rules.get("MaxLength", len(value))):
        raise ValidationError(
            message=f"Parameter '{name}' must contain at most MaxLength characters"
        )


class _Work:
    """Creates and deletes one stack, in threads, one at a time."""

    def __init__(self, stack: Any, on_failure: str) -> None:
        self.stack = stack
        self.on_failure = on_failure
        self.lock = threading.Lock()
        self.cancelled = threading.Event()
        self.made: list[str] = []

    def create(self) -> None:
        with self.lock:
            try:
                for name in self.stack.template_dict["Resources"]:
                    if not self.cancelled.is_set():
                        self._make(name)
            except Exception as error:  # noqa: BLE001 - whatever it is, the stack tells it
                if not self.cancelled.is_set():
                    self._fail(str(error))
            else:
                if not self.cancelled.is_set():
                    self._tell("CREATE_COMPLETE")

    def delete(self, backend: CloudFormationBackend) -> None:
        with self.lock:
            try:
                self._unmake()
            except Exception as error:  # noqa: BLE001 - whatever it is, the stack tells it
                self._tell("DELETE_FAILED", str(error))
            else:
                backend.deleted_stacks[self.stack.stack_id] = self.stack
                backend.stacks.pop(self.stack.stack_id, None)
                self._tell("DELETE_COMPLETE")

    def _make(self, name: str) -> None:
        self._tell_resource(name, "CREATE_IN_PROGRESS")
        _creating.active = True
        try:
            self.stack.resource_map[name]
        except Exception as error:
            self._tell_resource(name, "CREATE_FAILED", str(error))
            raise
        finally:
            _creating.active = False
        self.made.append(name)
        self._tell_resource(name, "CREATE_COMPLETE")

    def _fail(self, reason: str) -> None:
        if self.on_failure == "DO_NOTHING":
            self._tell("CREATE_FAILED", reason)
            return
        self._tell("ROLLBACK_IN_PROGRESS", reason)
        self._unmake()
        self._tell("ROLLBACK_COMPLETE")

    def _unmake(self) -> None:
        while self.made:
            name = self.made[-1]
            self._tell_resource(name, "DELETE_IN_PROGRESS")
            self.stack.resource_map[name].delete(self.stack.account_id, self.stack.region_name)
            self.made.pop()
            self._tell_resource(name, "DELETE_COMPLETE")

    def _tell(self, status: str, reason: str | None = None) -> None:
        self.stack._add_stack_event(status, resource_status_reason=reason)  # noqa: SLF001 - moto's
        self.stack.stack_status_reason = reason
        self.stack.status = status

    def _tell_resource(self, name: str, status: str, reason: str | None = None) -> None:
        made = self.stack.resource_map._parsed_resources.get(name)  # noqa: SLF001 - moto's
        event = Event(
            stack_id=self.stack.stack_id,
            stack_name=self.stack.name,
            logical_resource_id=name,
            physical_resource_id=getattr(made, "physical_resource_id", ""),
            resource_type=self.stack.template_dict["Resources"][name]["Type"],
            resource_status=status,
            resource_status_reason=reason,
            resource_properties=None,
        )
        self.stack.events.append(event)


def _begin_creation(self: Any) -> None:
    """Replace moto's `Stack.create_resources`."""
    check_template(self.template_dict, self.parameters)
    self.work = _Work(self, getattr(_creating, "on_failure", None) or "ROLLBACK")
    self.status = "CREATE_IN_PROGRESS"
    threading.Thread(target=self.work.create, daemon=True).start()


def _delete_stack(self: CloudFormationBackend, name_or_stack_id: str) -> None:
    for stack in list(self.stacks.values()):
        work = getattr(stack, "work", None)
        named = name_or_stack_id in (stack.name, stack.stack_id)
        if named and work is not None and stack.status != "DELETE_IN_PROGRESS":
            work.cancelled.set()
            work._tell("DELETE_IN_PROGRESS", "User Initiated")  # noqa: SLF001 - of this module
            threading.Thread(target=work.delete, args=(self,), daemon=True).start()


def _create_stack(self: CloudFormationResponse) -> Any:
    """Keep OnFailure, which moto ignores, and drop a stack that was refused."""
    _creating.on_failure = self._get_param("OnFailure")
    before = set(self.cloudformation_backend.stacks)
    try:
        return _original_create(self)
    except Exception:
        for refused in set(self.cloudformation_backend.stacks) - before:
            del self.cloudformation_backend.stacks[refused]
        raise


def _lookup(self: parsing.ResourceMap, key: str) -> Any:
    made = key in self._parsed_resources
    if not made and key in self._resource_json_map and not getattr(_creating, "active", False):
        return None
    return _original_lookup(self, key)


def _describe_stacks(self: CloudFormationBackend, name_or_stack_id: str) -> list[Stack]:
    """Return stacks of one moment: one that ends while an answer is written has two states."""
    return [copy.copy(stack) for stack in _original_describe(self, name_or_stack_id)]


def _outputs(self: Any) -> Any:
    return _original_outputs.fget(self) if self.status == "CREATE_COMPLETE" else None


def _resource_class(resource_type: str) -> Any:
    return RESOURCES.get(resource_type) or _original_class(resource_type)


def _name_property(resource_type: str) -> str | None:
    """Return the property that holds a resource's name; moto searches only its own classes."""
    if resource := RESOURCES.get(resource_type):
        return resource.NAME_PROPERTY
    return _original_name_property(resource_type)


def apply(databases: Databases, snapshots: Snapshots) -> None:
    """Correct moto's stacks, and run their database instances on this machine."""
    DatabaseInstance.databases = databases
    DatabaseInstance.snapshots = snapshots
    Instance.databases = databases
    Instance.snapshots = snapshots
    replace_members(
        parsing,
        resource_class_from_type=_resource_class,
        resource_name_property_from_type=_name_property,
    )
    replace_members(parsing.ResourceMap, __getitem__=_lookup)
    replace_members(Stack, create_resources=_begin_creation, outputs=property(_outputs))
    replace_members(
        CloudFormationBackend, delete_stack=_delete_stack, describe_stacks=_describe_stacks
    )
    replace_members(CloudFormationResponse, create_stack=_create_stack)

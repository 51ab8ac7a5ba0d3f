"""The template of a Cassandra target, with one instance per node of its cluster. Pure."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.engine.networks import PLACE_TAG, SEED_TAG, ClusterPlace

_INSTANCE, _ANSWER, _LISTENS = "Instance", "Answer", "Listens"
_SEED = {"Fn::GetAtt": [_INSTANCE, "PrivateIp"]}


def add_nodes(template: str, nodes: int, zones: Sequence[Zone]) -> str:
    """Add instances to a template; each is created when the one before it listens.

    Nodes join the ring one at a time: two that join together do not see each other's ranges.

    Args:
        template: The template of a Cassandra target with one node.
        nodes: The number of nodes; with 1 the template stays unchanged.
        zones: The availability zones to use in turn, beginning with that of the first node.
    """
    if nodes == 1:
        return template
    body: dict[str, Any] = json.loads(template)
    resources, outputs = body["Resources"], body["Outputs"]
    first = copy.deepcopy({name: resources[name] for name in (_INSTANCE, _ANSWER, _LISTENS)})
    place = ClusterPlace(1, nodes)
    resources[_INSTANCE]["Properties"]["Tags"].append(_make_tag(PLACE_TAG, str(place)))
    _find_user_data_variables(resources[_INSTANCE])["Token"] = str(place.token)
    before = _LISTENS
    for number in range(2, nodes + 1):
        further = _copy_node(first, ClusterPlace(number, nodes), zones[(number - 1) % len(zones)])
        further[f"{_INSTANCE}{number}"]["DependsOn"] = [before]
        resources |= further
        before = f"{_LISTENS}{number}"
        for name in ("Endpoint", "InstanceIdentifier"):
            output = json.dumps(outputs[name]).replace(f'"{_INSTANCE}"', f'"{_INSTANCE}{number}"')
            outputs[f"{name}{number}"] = json.loads(output)
    return json.dumps(body, indent=1)


def _copy_node(first: Mapping[str, Any], place: ClusterPlace, zone: Zone) -> dict[str, Any]:
    """Copy the first node's resources under names that end in another node's number."""
    number = place.number
    instance = copy.deepcopy(first[_INSTANCE])
    properties = instance["Properties"]
    properties |= {"AvailabilityZone": zone.name, "SubnetId": zone.subnet_id}
    properties["Tags"] += [_make_tag(PLACE_TAG, str(place)), _make_tag(SEED_TAG, _SEED)]
    _find_user_data_variables(instance).update(
        Answer={"Ref": f"{_ANSWER}{number}"},
        Node=str(number),
        Rack=zone.name,
        Seed=_SEED,
        Token=str(place.token),
    )
    listens = copy.deepcopy(first[_LISTENS])
    listens["DependsOn"] = [f"{_INSTANCE}{number}"]
    listens["Properties"]["Handle"] = {"Ref": f"{_ANSWER}{number}"}
    made = {_INSTANCE: instance, _ANSWER: copy.deepcopy(first[_ANSWER]), _LISTENS: listens}
    return {f"{name}{number}": resource for name, resource in made.items()}


def _find_user_data_variables(instance: Mapping[str, Any]) -> dict[str, object]:
    """Return the variables of an instance's user data."""
    header, _ = instance["Properties"]["UserData"]["Fn::Base64"]["Fn::Join"][1]
    _, variables = header["Fn::Sub"]
    told: dict[str, object] = variables
    return told


def _make_tag(key: str, value: object) -> dict[str, object]:
    return {"Key": key, "Value": value}

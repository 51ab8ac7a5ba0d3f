"""The template of a Cassandra target, with as many instances as its cluster has nodes. Pure."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.engine.networks import PLACE_TAG, SEED_TAG, ClusterPlace

_INSTANCE, _ANSWER, _LISTENS = "Instance", "Answer", "Listens"
_SEED = {"Fn::GetAtt": [_INSTANCE, "PrivateIp"]}


def with_nodes(template: str, nodes: int, zones: Sequence[Zone]) -> str:
    """Give a template further instances like its first, each made when the one before it listens.

    A node joins the ring alone: two that join at a time do not see each other's ranges.

    Args:
        template: Cassandra's.
        nodes: How many there are in all; of one the template stays as it is.
        zones: In which they stand in turn, that of the template's parameters first.
    """
    if nodes == 1:
        return template
    body: dict[str, Any] = json.loads(template)
    resources, outputs = body["Resources"], body["Outputs"]
    first = copy.deepcopy({name: resources[name] for name in (_INSTANCE, _ANSWER, _LISTENS)})
    place = ClusterPlace(1, nodes)
    resources[_INSTANCE]["Properties"]["Tags"].append(_tag(PLACE_TAG, str(place)))
    _told(resources[_INSTANCE])["Token"] = str(place.token)
    before = _LISTENS
    for number in range(2, nodes + 1):
        further = _further(first, ClusterPlace(number, nodes), zones[(number - 1) % len(zones)])
        further[f"{_INSTANCE}{number}"]["DependsOn"] = [before]
        resources |= further
        before = f"{_LISTENS}{number}"
        for name in ("Endpoint", "InstanceIdentifier"):
            output = json.dumps(outputs[name]).replace(f'"{_INSTANCE}"', f'"{_INSTANCE}{number}"')
            outputs[f"{name}{number}"] = json.loads(output)
    return json.dumps(body, indent=1)


def _further(first: Mapping[str, Any], place: ClusterPlace, zone: Zone) -> dict[str, Any]:
    """Copy what the first node is made of, under names with the number of another."""
    number = place.number
    instance = copy.deepcopy(first[_INSTANCE])
    properties = instance["Properties"]
    properties |= {"AvailabilityZone": zone.name, "SubnetId": zone.subnet_id}
    properties["Tags"] += [_tag(PLACE_TAG, str(place)), _tag(SEED_TAG, _SEED)]
    _told(instance).update(
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


def _told(instance: Mapping[str, Any]) -> dict[str, object]:
    """Give the variables of an instance's user data."""
    header, _ = instance["Properties"]["UserData"]["Fn::Base64"]["Fn::Join"][1]
    _, variables = header["Fn::Sub"]
    told: dict[str, object] = variables
    return told


def _tag(key: str, value: object) -> dict[str, object]:
    return {"Key": key, "Value": value}

"""The template of a Cassandra target, with as many instances as its cluster has nodes. Pure."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from plimsoll.model.cluster_place import PLACE_TAG, SEED_TAG, ClusterPlace

_INSTANCE, _ANSWER, _LISTENS = "Instance", "Answer", "Listens"
_SEED = {"Fn::GetAtt": [_INSTANCE, "PrivateIp"]}


def with_nodes(template: str, nodes: int) -> str:
    """Give a template further instances like its first, each made when the one before it listens.

    A node joins the ring alone: two that join at a time do not see each other's ranges.

    Args:
        template: Cassandra's.
        nodes: How many there are in all; of one the template stays as it is.
    """
    if nodes == 1:
        return template
    body: dict[str, Any] = json.loads(template)
    resources, outputs = body["Resources"], body["Outputs"]
    first = copy.deepcopy({name: resources[name] for name in (_INSTANCE, _ANSWER, _LISTENS)})
    resources[_INSTANCE]["Properties"]["Tags"].append(_tag(PLACE_TAG, str(ClusterPlace(1, nodes))))
    before = _LISTENS
    for number in range(2, nodes + 1):
        further = _further(first, ClusterPlace(number, nodes))
        further[f"{_INSTANCE}{number}"]["DependsOn"] = [before]
        resources |= further
        before = f"{_LISTENS}{number}"
        for name in ("Endpoint", "InstanceIdentifier"):
            output = json.dumps(outputs[name]).replace(f'"{_INSTANCE}"', f'"{_INSTANCE}{number}"')
            outputs[f"{name}{number}"] = json.loads(output)
    return json.dumps(body, indent=1)


def _further(first: Mapping[str, Any], place: ClusterPlace) -> dict[str, Any]:
    """Copy what the first node is made of, under names with the number of another."""
    number = place.number
    answer, own = f"${{{_ANSWER}}}", f"${{{_ANSWER}{number}}}"  # in the instance's user data
    instance = json.loads(json.dumps(first[_INSTANCE]).replace(answer, own))
    tags = [_tag(PLACE_TAG, str(place)), _tag(SEED_TAG, _SEED)]
    instance["Properties"]["Tags"] += tags
    listens = copy.deepcopy(first[_LISTENS])
    listens["DependsOn"] = [f"{_INSTANCE}{number}"]
    listens["Properties"]["Handle"] = {"Ref": f"{_ANSWER}{number}"}
    made = {_INSTANCE: instance, _ANSWER: copy.deepcopy(first[_ANSWER]), _LISTENS: listens}
    return {f"{name}{number}": resource for name, resource in made.items()}


def _tag(key: str, value: object) -> dict[str, object]:
    return {"Key": key, "Value": value}

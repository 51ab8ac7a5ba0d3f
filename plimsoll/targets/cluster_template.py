"""The template of a Cassandra target, with as many instances as its cluster has nodes. Pure."""

import copy
import json
from typing import Any

from plimsoll.model.cluster_place import PLACE_TAG, SEED_TAG, ClusterPlace

_INSTANCE, _ANSWER, _LISTENS = "Instance", "Answer", "Listens"


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
    first = resources[_INSTANCE]
    seed = {"Fn::GetAtt": [_INSTANCE, "PrivateIp"]}
    for number in range(2, nodes + 1):
        before = _LISTENS if number == 2 else f"{_LISTENS}{number - 1}"
        instance = json.loads(json.dumps(first).replace(f"${{{_ANSWER}}}", f"${{{_ANSWER}{number}}}"))
        place = {"Key": PLACE_TAG, "Value": str(ClusterPlace(number, nodes))}
        instance["Properties"]["Tags"] += [place, {"Key": SEED_TAG, "Value": seed}]
        instance["DependsOn"] = [before]
        resources[f"{_INSTANCE}{number}"] = instance
        resources[f"{_ANSWER}{number}"] = copy.deepcopy(resources[_ANSWER])
        listens = copy.deepcopy(resources[_LISTENS])
        listens["DependsOn"] = [f"{_INSTANCE}{number}"]
        listens["Properties"]["Handle"] = {"Ref": f"{_ANSWER}{number}"}
        resources[f"{_LISTENS}{number}"] = listens
        for name in ("Endpoint", "InstanceIdentifier"):
            output = json.dumps(outputs[name]).replace(f'"{_INSTANCE}"', f'"{_INSTANCE}{number}"')
            outputs[f"{name}{number}"] = json.loads(output)
    first_place = {"Key": PLACE_TAG, "Value": str(ClusterPlace(1, nodes))}
    first["Properties"]["Tags"].append(first_place)
    return json.dumps(body, indent=1)

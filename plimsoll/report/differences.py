"""What was asked differently: the fields in which requests differ, and names that say so."""

import json
from collections.abc import Sequence
from typing import Any

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult
from plimsoll.model.search_request import RampSearch, Search, StepsSearch

LABEL_FIELDS_MOST = 3
_UNITS = {
    "iops": "{:,} IOPS",
    "size_gib": "{:,} GiB",
    "throughput_mib_s": "{:,} MiB/s",
    "records": "{:,} records",
    "connections_per_client": "{:,} connections a client",
    "instance_class": "{}",
    "type": "{}",
    "name": "{}",
    "host": "{}",
}
_NOT_ASKED = {"name", "description", "tags", "team", "budget_usd", "time_limit_s", "expect"}


class Difference(Model):
    """A field in which requests differ, with its value in each; None: not given."""

    field: str
    values: tuple[str | None, ...]

    @property
    def part(self) -> str:
        """The part of a request that it belongs to: target, workload, load, search, limits ..."""
        return self.field.split(".")[0]


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        fields: dict[str, Any] = {}
        for key, inner in value.items():
            fields |= _flat(inner, f"{path}.{key}" if path else key)
        return fields
    return {path: value}


def _asked(request: Request) -> dict[str, Any]:
    return _flat(request.model_dump(mode="json", exclude=_NOT_ASKED, exclude_none=True))


def differences(results: Sequence[RunResult]) -> tuple[Difference, ...]:
    """The fields in which the runs' requests differ, and where they ran."""
    asked = [_asked(result.request) for result in results]
    differing = []
    for field in dict.fromkeys(field for request in asked for field in request):
        values = tuple(_text(request[field]) if field in request else None for request in asked)
        if len(set(values)) > 1:
            differing.append(Difference(field=field, values=values))
    places = tuple("one machine" if result.local else "AWS" for result in results)
    if len(set(places)) > 1:
        differing.append(Difference(field="measured on", values=places))
    return tuple(differing)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def labels(results: Sequence[RunResult]) -> tuple[str, ...]:
    """A name for each run, all different: what differs, if that is little, else its name or id."""
    differing = [d for d in differences(results) if d.field not in {"target.kind", "workload.kind"}]
    short = tuple(_label(differing, index) for index in range(len(results)))
    if 1 <= len(differing) <= LABEL_FIELDS_MOST and len(set(short)) == len(short):
        return short
    for names in (
        tuple(result.name for result in results),
        tuple(result.run_id for result in results),
    ):
        if len(set(names)) == len(names):
            return names
    return tuple(f"{result.run_id} ({n})" for n, result in enumerate(results, 1))


def _label(differing: Sequence[Difference], index: int) -> str:
    return ", ".join(_part(d.field, d.values[index]) for d in differing)


def _part(field: str, value: str | None) -> str:
    name = field.rsplit(".", maxsplit=1)[-1]
    if value is None:
        return f"default {name}"
    if name == "engine":
        return words.ENGINES[value]
    if name in _UNITS:
        return _UNITS[name].format(int(value) if value.isdigit() else value)
    return f"{name} {value}"


def target_key(result: RunResult) -> str:
    """A text that is equal for runs of the same target."""
    return result.request.target.model_dump_json()


def question(result: RunResult) -> str:
    """A text that is equal for runs that ask the same of their targets: workloads, load and limits.

    Of the search, only the connections of a client belong to the question, and the load where only
    one is tried; its strategy does not, nor does how often the answer is repeated.
    """
    request = result.request
    asked = request.model_dump(mode="json", include={"workload", "background", "load", "limits"})
    asked["limits"]["confirmation"] = request.limits.confirmation is not None
    asked["search"] = loads_asked(request.search).model_dump(mode="json")
    return json.dumps(asked, sort_keys=True)


def loads_asked(search: Search) -> Search:
    """Replace a search by one that differs from others only in what belongs to the question."""
    if not isinstance(search, StepsSearch):
        return RampSearch()
    only = search.clients if len(search.clients) == 1 else (1, 2)
    return StepsSearch(clients=only, connections_per_client=search.connections_per_client)

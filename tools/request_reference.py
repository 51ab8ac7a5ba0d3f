"""Writes docs/requests.md from the request's models: `make docs`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from plimsoll.model.request.request import Request

PAGE = Path(__file__).parents[1] / "docs" / "requests.md"
HEAD = """\
# Requests

A request describes a run: its target, workload, search and limits. It is a YAML file for
`plimsoll run` and `plimsoll validate`, and the same as JSON for the API. Unknown fields are refused
by name, and values that AWS would refuse are refused before anything is created.

The file may also be a pipe (`plimsoll validate <(...)`) or `/dev/stdin`; it has 262,144 characters
at most. Files that it names lie in its folder or below, links resolved, unless `--allow-files DIR`
says otherwise: a request may come from somebody else.

## A request for each kind of target

A database on RDS, made for the run and deleted after it; `run --local` makes it on this machine:

```yaml
name: reads-on-io1
target:
  kind: rds
  engine: mariadb
  engine_version: "11.4"
  instance_class: db.m5.large
  volume: {type: io1, size_gib: 100, iops: 3000}
workload: {name: ycsb-b, records: 200000}
search: {strategy: ramp}
limits: {limits_us: {read: 20000, update: 50000}}  # p99, in microseconds
```

An Aurora cluster. Its storage has no IOPS to choose:

```yaml
name: reads-on-aurora
target:
  kind: aurora
  engine: aurora-postgresql
  engine_version: "16.4"
  instance_class: db.r6g.large
workload: {name: ycsb-b, records: 200000}
search: {strategy: ramp}
limits: {limits_us: {read: 20000, update: 50000}}
```

A Cassandra cluster on EC2, with three copies of each row:

```yaml
name: reads-on-a-ring
target:
  kind: cassandra
  instance_type: m6g.large
  nodes: 3
  replication: 3
  volume: {type: gp3, size_gib: 100}
workload: {name: ycsb-b, records: 200000}
search: {strategy: ramp}
limits: {limits_us: {read: 20000, update: 20000}}
```

A database that you have. `PLIMSOLL_USER` and `PLIMSOLL_PASSWORD` log in; on AWS `secret_arn` does,
and the deployment has to allow the address:

```yaml
name: reads-on-mine
target:
  kind: endpoint
  engine: postgres
  host: db.example
  database: scratch
workload: {name: ycsb-b, records: 200000}
search: {strategy: ramp}
limits: {limits_us: {read: 20000, update: 50000}}
```

Check each with `plimsoll validate FILE`, which creates nothing. A workload of your own is a file in
the same folder: `workload: {file: shop.yaml, records: 100000}`
([workload-files.md](workload-files.md)).

## Several runs in a file

Each entry of `runs` has a name and the fields that differ:

```yaml
runs:
  low: {target: {volume: {iops: 1000}}}
  high: {target: {volume: {iops: 2000}}}
```

## In an editor

An editor with a YAML language server completes fields and marks errors if the file's first line is

```yaml
# yaml-language-server: $schema=https://.../docs/schemas/request.json
```

with the location of the schema: [that of a request](schemas/request.json). There are others of
[an experiment](schemas/experiment.json), [a check](schemas/check.json),
[a workload](schemas/workload.json) and [a result](schemas/result.json).

## Every field

This page is generated from `plimsoll/model/request/request.py` and the modules of its parts. Change
those, then run `make docs`.
Names end in their units: `_s` seconds, `_ms` milliseconds, `_us` microseconds, `_gib` GiB,
`_mib_s` MiB/s, `_ops_per_second` operations per second.
"""

Schema = Mapping[str, Any]


def reference() -> str:
    """Give the page."""
    schema = Request.model_json_schema()
    definitions: dict[str, Schema] = schema.get("$defs", {})
    sections = [_section("Request", schema, definitions)]
    sections += [_section(name, definitions[name], definitions) for name in _order(schema)]
    return HEAD + "".join(sections)


def _order(schema: Schema) -> list[str]:
    """Name the definitions in the order in which a reader meets them."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    seen: list[str] = []

    def visit(part: Schema) -> None:
        for name in _references(part):
            if name not in seen and definitions[name].get("type") == "object":
                seen.append(name)
        for name in _references(part):
            if name not in visited:
                visited.add(name)
                visit(definitions[name])

    visited: set[str] = set()
    visit({key: value for key, value in schema.items() if key != "$defs"})
    return seen


def _references(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        if "$ref" in part:
            yield part["$ref"].rpartition("/")[2]
        for key, value in part.items():
            if key != "discriminator":
                yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def _section(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> str:
    about = schema.get("description", "")
    rows = "".join(
        _row(field, part, required=field in schema.get("required", []), definitions=definitions)
        for field, part in schema.get("properties", {}).items()
    )
    head = "| field | type | default | allowed | meaning |\n|---|---|---|---|---|\n"
    table = head + rows if rows else ""
    return f"\n## {name}\n\n{about}\n\n{table}"


def _row(field: str, part: Schema, *, required: bool, definitions: Mapping[str, Schema]) -> str:
    default = "required" if required else _default(part)
    cells = (
        f"`{field}`",
        _type(part, definitions),
        default,
        "; ".join(dict.fromkeys(_allowed(part, definitions))),
        part.get("description", "").replace("\n", " "),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _default(part: Schema) -> str:
    if "default" not in part:
        return "empty"
    value = part["default"]
    if value is None:
        return "none"
    if isinstance(value, dict):
        return "its own defaults"
    return f"`{json.dumps(value)}`" if value != [] else "empty"


def _type(part: Schema, definitions: Mapping[str, Schema]) -> str:
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        target = definitions[name]
        return f"[{name}](#{name.lower()})" if target.get("type") == "object" else "text"
    for union in ("anyOf", "oneOf"):
        if union in part:
            kinds = [_type(one, definitions) for one in part[union] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "const" in part or "enum" in part:
        return "text"
    kind = part.get("type")
    if kind == "array":
        return f"list of {_type(part.get('items', {}), definitions)}"
    if kind == "object":
        patterns = part.get("patternProperties", {})
        values = next(iter(patterns.values()), part.get("additionalProperties"))
        return f"{_type(values, definitions)} by name" if isinstance(values, dict) else "mapping"
    names = {"integer": "whole number", "number": "number", "string": "text", "boolean": "yes/no"}
    return names.get(str(kind), "anything")


def _allowed(part: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    if "$ref" in part and definitions[part["$ref"].rpartition("/")[2]].get("type") != "object":
        part = definitions[part["$ref"].rpartition("/")[2]]
    yield from _limits(part)
    for union in ("anyOf", "oneOf"):
        for one in part.get(union, []):
            if "$ref" not in one:
                yield from _allowed(one, definitions)
    if "items" in part:
        yield from (f"each {text}" for text in _allowed(part["items"], definitions))


def _limits(part: Schema) -> Iterator[str]:
    if "const" in part:
        yield f"`{part['const']}`"
    if "enum" in part:
        yield ", ".join(f"`{value}`" for value in part["enum"])
    bounds = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    told = [f"{sign} {part[key]:g}" for key, sign in bounds.items() if key in part]
    if told:
        yield " and ".join(told)
    if "maxLength" in part:
        yield f"up to {part['maxLength']} characters"
    if "pattern" in part:
        yield f"`{part['pattern']}`"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(reference())

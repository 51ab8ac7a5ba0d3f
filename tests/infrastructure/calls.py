"""Which AWS actions a handler can come to call, found in the code that it reaches.

Names are followed, not types: a function or method that is mentioned counts as called. Where
several classes have a method of one name, a receiver that is called like one of them
(`records.get`, `records_of(settings).get`) means that one. Functions that answer a path count as
called.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import boto3

from stacks.imports import find_module_files

PREFIXES = {"stepfunctions": "states", "lambda_": "lambda"}
TRANSACTION = "dynamodb:TransactWriteItems"  # no action of IAM
WRITES = ("Put", "Update", "Delete", "ConditionCheck")
SPECIAL = {
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "apigateway:GetAccount": "apigateway:GET",
}
Definition = ast.FunctionDef | ast.AsyncFunctionDef
Defined = tuple[str, ast.AST]  # with the class that a method belongs to, in lower case


@cache
def _methods(service: str) -> dict[str, str]:
    """The IAM action of each method of a service's client."""
    session = boto3.session.Session(
        aws_access_key_id="-", aws_secret_access_key="-", region_name="eu-west-1"
    )
    # its types know a service's name only as a literal
    client = session.client(service.rstrip("_"))  # type: ignore[call-overload]
    prefix = PREFIXES.get(service, service)
    actions = {
        method: f"{prefix}:{operation}"
        for method, operation in client.meta.method_to_api_mapping.items()
    }
    return {method: SPECIAL.get(action, action) for method, action in actions.items()}


@cache
def actions(handler: Path) -> frozenset[str]:
    """The actions that the code of a handler can come to."""
    return frozenset(action for body in _reached(handler) for action in _calls(body))


@cache
def functions(handler: Path) -> frozenset[str]:
    """The names of the functions and methods that the code of a handler can come to."""
    return frozenset(body.name for body in _reached(handler) if isinstance(body, Definition))


def _reached(handler: Path) -> Iterator[ast.AST]:
    defined = _definitions(handler)
    reached: list[Defined] = [("", _parsed(handler))]
    reached += [one for found in defined.values() for one in found if _is_route(one[1])]
    seen: set[int] = set()
    while reached:
        owner, body = reached.pop()
        if id(body) in seen:
            continue
        seen.add(id(body))
        yield body
        for name, receiver in _mentions(body):
            whose = owner if receiver == "self" else receiver.lower().removesuffix("_of")
            reached += _meant(name, defined.get(name, []), whose)


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _definitions(handler: Path) -> dict[str, list[Defined]]:
    """The functions and methods of every module that the handler imports, by their bare names."""
    defined: dict[str, list[Defined]] = {}
    for file in find_module_files(handler) - {handler}:
        for name, found in _defined_in(file):
            defined.setdefault(name, []).append(found)
    return defined


@cache  # handlers share most of their modules
def _defined_in(file: Path) -> tuple[tuple[str, Defined], ...]:
    tree = _parsed(file)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    owners = {id(method): c.name.lower() for c in classes for method in c.body}
    return tuple(
        (node.name, (owners.get(id(node), ""), node))
        for node in ast.walk(tree)
        if isinstance(node, Definition)
    )


def _is_route(body: ast.AST) -> bool:
    """Whether a function is called for a path of the API: no code mentions it."""
    decorators = [
        d.func if isinstance(d, ast.Call) else d for d in getattr(body, "decorator_list", [])
    ]
    objects = [d.value for d in decorators if isinstance(d, ast.Attribute)]
    return any(isinstance(o, ast.Name) and o.id in {"app", "router"} for o in objects)


@cache
def _mentions(body: ast.AST) -> tuple[tuple[str, str], ...]:
    """Each name that is used, once, with that of the object whose attribute it is."""
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(body):
        if isinstance(node, ast.Name):
            found[node.id, ""] = None
        elif isinstance(node, ast.Attribute):
            receiver = node.value.func if isinstance(node.value, ast.Call) else node.value
            found[node.attr, getattr(receiver, "attr", getattr(receiver, "id", ""))] = None
    return tuple(found)


def _meant(name: str, candidates: list[Defined], receiver: str) -> list[Defined]:
    named = [found for found in candidates if receiver and receiver in found[0]]
    if named or hasattr(dict, name):  # `.get` of anything else is a dictionary's
        return named
    return candidates


@cache
def _calls(body: ast.AST) -> frozenset[str]:
    """Methods of the clients that this body asks `clients` for, paginators' operations too."""
    attributes = [node for node in ast.walk(body) if isinstance(node, ast.Attribute)]
    clients = {
        node.attr
        for node in attributes
        if isinstance(node.value, ast.Name) and node.value.id == "clients"
    }
    named = {node.attr for node in attributes} | {
        str(node.args[0].value)
        for node in ast.walk(body)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get_paginator"
        and isinstance(node.args[0], ast.Constant)
    }
    known = [_methods(client) for client in clients if client != "through"]
    called = {methods[name] for methods in known for name in named if name in methods}
    return frozenset((called - {TRANSACTION}) | _writes_of_transactions(body))


def _writes_of_transactions(body: ast.AST) -> set[str]:
    """The writes that are handed to a transaction, each `{"Put": ...}`: IAM asks for their own."""
    written = {
        key.value
        for node in ast.walk(body)
        if isinstance(node, ast.Dict) and len(node.keys) == 1
        for key in node.keys
        if isinstance(key, ast.Constant)
    }
    return {f"dynamodb:{write}Item" for write in WRITES if write in written}

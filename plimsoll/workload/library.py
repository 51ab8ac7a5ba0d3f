"""Finding workloads: built in, in a file, or inline in a request."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from plimsoll.complaints import FieldPath, complain_of_unknown
from plimsoll.documents import Document, make_document, read_document, read_text
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.packaged import find_packaged_folder
from plimsoll.workload.pgbench.workload import (
    FIELD,
    SUFFIX,
    load_scripts,
    names_scripts,
    read_definition,
)
from plimsoll.workload.workload import Workload, read_workload

_SUFFIX = ".yaml"
_EXTENDS = "extends"  # the field with the name of the built-in workload that another one changes


def list_builtin_names() -> list[str]:
    """Return the names of the workloads that come with Plimsoll."""
    return _list_names(find_packaged_folder("workloads"))


def load_workload(name: str) -> Workload:
    """Read and check a workload, by its built-in name or from a file.

    A name with a `/`, or one that ends in .yaml or .yml, is a file. One that ends in .sql is a
    pgbench script; several have commas between them, and may have weights: `a.sql@2,b.sql@1`.

    Raises:
        WorkloadError: Something in it is not valid.
        UsageError: There is no workload of that name.
    """
    if names_scripts(name):
        return load_scripts(name)
    if "/" in name or name.endswith((".yaml", ".yml")):
        return parse_workload(read_text(Path(name)), source=name)
    return load_builtin_workload(
        name, hint=f"a file's name ends in .yaml, a pgbench script's in {SUFFIX}"
    )


def load_builtin_workload(name: str, path: FieldPath = (), *, hint: str = "") -> Workload:
    """Read and check a workload that comes with Plimsoll; the name is never a file's.

    Args:
        name: The workload's name.
        path: The field that names it.
        hint: Advice for whoever named an unknown one.

    Raises:
        UsageError: There is no workload of that name.
    """
    folder = find_packaged_folder("workloads")
    names = _list_names(folder)
    if name not in names:
        raise UsageError(complain_of_unknown("workload", name, names, path, value=name, hint=hint))
    return _read_builtin(folder, name)


@cache
def _read_builtin(folder: Path, name: str) -> Workload:
    """Read a built-in workload once in a process: each step of a run needs it."""
    return parse_workload(_read_text(folder, name), source=f"{name}{_SUFFIX}")


def parse_workload(document: str | Mapping[str, Any], *, source: str = "workload") -> Workload:
    """Read and check a workload from YAML text, or from a mapping as in a request.

    Args:
        document: The workload.
        source: The name for error messages: a file name, or the field of the request.

    Raises:
        WorkloadError: Something in it is not valid.
    """
    name = Path(source).name.removesuffix(_SUFFIX)
    try:
        if not isinstance(document, str) and FIELD in document:
            return read_definition(document)
        if isinstance(document, str):
            root, text = read_document(document, source), document
        else:
            root, text = make_document(document, source)
        workload = read_workload(_extend(root), text=text, name=name, datasets=_read_dataset)
        return replace(workload, base_texts=tuple(_list_base_texts(root)))
    except UsageError as error:
        raise WorkloadError(*error.complaints) from None


def _extend(document: Document) -> Document:
    """Return a workload's document with what it has of the built-in one that it extends."""
    declared = document.value
    if not isinstance(declared, dict) or _EXTENDS not in declared:
        return document
    base, folder = declared[_EXTENDS], find_packaged_folder("workloads")
    if base not in (known := _list_names(folder)):
        unknown = complain_of_unknown("workload", str(base), known, (_EXTENDS,))
        raise document.locate_complaints(UsageError(unknown))
    text = _read_text(folder, base)
    return document.extend(_extend(read_document(text, f"{base}{_SUFFIX}")), _EXTENDS)


def _list_base_texts(document: Document) -> Iterator[str]:
    """Yield the texts of the built-in workloads that one extends, the nearest first."""
    if base := document.value.get(_EXTENDS):
        text = _read_text(find_packaged_folder("workloads"), base)
        yield text
        yield from _list_base_texts(read_document(text, f"{base}{_SUFFIX}"))


def _read_dataset(name: str) -> Document:
    folder = find_packaged_folder("workloads") / "datasets"
    known = _list_names(folder)
    if name not in known:
        raise UsageError(complain_of_unknown("dataset", name, known, value=name))
    return read_document(_read_text(folder, name), f"datasets/{name}{_SUFFIX}")


def _list_names(folder: Path) -> list[str]:
    """Return the names of a folder's documents."""
    files = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def _read_text(folder: Path, name: str) -> str:
    return (folder / f"{name}{_SUFFIX}").read_text(encoding="utf-8")

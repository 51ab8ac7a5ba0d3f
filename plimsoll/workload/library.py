"""Finding workloads: built in, in a file, or inline in a request."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.complaints import complain_of_unknown
from plimsoll.documents import Document, make_document, read_document, read_text
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.packaged import find_packaged_folder
from plimsoll.workload.workload import Workload, read_workload

_SUFFIX = ".yaml"


def list_builtin_names() -> list[str]:
    """Return the names of the workloads that come with Plimsoll."""
    return sorted(
        entry.name.removesuffix(_SUFFIX)
        for entry in find_packaged_folder("workloads").iterdir()
        if entry.name.endswith(_SUFFIX)
    )


def load_workload(name: str) -> Workload:
    """Read and check a workload, by its built-in name or from a file.

    A name with a `/`, or one that ends in .yaml or .yml, is a file.

    Raises:
        WorkloadError: Something in it is not valid.
        UsageError: There is no workload of that name.
    """
    if "/" in name or name.endswith((".yaml", ".yml")):
        return parse_workload(read_text(Path(name)), source=name)
    if name not in list_builtin_names():
        hint = "a file's name ends in .yaml"
        raise UsageError(
            complain_of_unknown("workload", name, list_builtin_names(), value=name, hint=hint)
        )
    text = (find_packaged_folder("workloads") / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    return parse_workload(text, source=f"{name}{_SUFFIX}")


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
        if isinstance(document, str):
            root, text = read_document(document, source), document
        else:
            root, text = make_document(document, source)
        return read_workload(root, text=text, name=name, datasets=_read_dataset)
    except UsageError as error:
        raise WorkloadError(*error.complaints) from None


def _read_dataset(name: str) -> Document:
    folder = find_packaged_folder("workloads") / "datasets"
    known = [entry.name.removesuffix(_SUFFIX) for entry in folder.iterdir()]
    if name not in known:
        raise UsageError(complain_of_unknown("dataset", name, known, value=name))
    text = (folder / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    return read_document(text, f"datasets/{name}{_SUFFIX}")

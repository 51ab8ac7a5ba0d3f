"""Workloads as data: reading, checking and resolving them."""

from plimsoll.errors import WorkloadError
from plimsoll.workload.compiled import Compiled, Table
from plimsoll.workload.library import list_builtin_names, load_workload, parse_workload
from plimsoll.workload.workload import Workload

__all__ = [
    "Compiled",
    "Table",
    "Workload",
    "WorkloadError",
    "list_builtin_names",
    "load_workload",
    "parse_workload",
]

"""Workloads as data: reading, checking and resolving them."""

from plimsoll.errors import WorkloadError
from plimsoll.workload.compiled import Compiled, Table
from plimsoll.workload.library import builtin_names, load_workload, parse_workload
from plimsoll.workload.workload import Workload

__all__ = [
    "Compiled",
    "Table",
    "Workload",
    "WorkloadError",
    "builtin_names",
    "load_workload",
    "parse_workload",
]

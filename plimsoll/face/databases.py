"""A database and a workload, as programs name them."""

import os
from os import PathLike, fspath

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.face.checks import number
from plimsoll.finding.asked import PASSWORD
from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import EngineTarget
from plimsoll.workload import Workload, load_workload
from plimsoll.workload.library import builtin_names

WorkloadName = str | PathLike[str]


def database(dsn: str, password: str | None) -> EngineTarget:
    """Read a DSN; without a password of its own it gets the one given, or PLIMSOLL_PASSWORD's."""
    if not isinstance(dsn, str):
        raise UsageError(Complaint(("dsn",), "must be text"))
    if password is None:
        password = os.environ.get(PASSWORD, "")
    return parse_dsn(dsn, option="dsn", password=password)


def require_count(records: int | None) -> None:
    """Refuse what is no number of records; None is the workload's own.

    Raises:
        UsageError: It is none.
    """
    if records is not None:
        number(records, "records", Range(1, 1e12), whole=True)


def workload_named(name: WorkloadName) -> tuple[Workload, bool]:
    """Read a workload, built-in or of a file; says also whether it is a built-in one."""
    text = fspath(name)
    return load_workload(text), text in builtin_names()

"""Checks of the arguments of the Python API: names, numbers, limits, databases, workloads."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TypeVar, cast

from pydantic import ValidationError

from plimsoll.complaints import Complaint, Range, complain_of_unknown
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load_line.options import PASSWORD
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.quantities import parse_latency_us
from plimsoll.workload import Workload, load_workload
from plimsoll.workload.library import list_builtin_names

Limit = str | float  # "5ms", or a number of microseconds
Limits = Mapping[str, Limit] | Limit | None
Name = TypeVar("Name", bound=str)


def parse_limits(limits: Limits, operations: Collection[str]) -> dict[str, float]:
    """Parse limits, one for all operations or by name; returns microseconds by operation.

    Raises:
        UsageError: A limit is no latency, or names an operation that does not exist.
    """
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        return dict.fromkeys(operations, _parse_latency_us(limits, "limits"))
    for name in limits:
        if name not in operations:
            raise UsageError(
                complain_of_unknown("operation", str(name), operations, ("limits",), value=name)
            )
    return {name: _parse_latency_us(limit, f"limits[{name!r}]") for name, limit in limits.items()}


def _parse_latency_us(limit: Limit, name: str) -> float:
    if isinstance(limit, str):
        return parse_latency_us(limit, name)
    return number(limit, name, Range(0, 300e6, open=True))


def number(value: float, name: str, allowed: Range, *, whole: bool = False) -> float:
    """Return a number after checking its range.

    Raises:
        UsageError: The value is no number or out of range.
    """
    kind = int if whole else (int, float)
    problem = "is no whole number" if whole else "is no number"
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(Complaint((name,), f"{value!r} {problem}", None, allowed))
    least, most = allowed.least, allowed.most
    assert least is not None and most is not None  # noqa: S101, PT018 - each range here has both
    below = value <= least if allowed.open else value < least
    if below or not value <= most:  # not a number is neither
        raise UsageError(Complaint((name,), f"{value} is out of range", value, allowed))
    return value


def check_name(value: str, names: Collection[Name], name: str) -> Name:
    """Return a name after checking that it is one of the allowed ones.

    Raises:
        UsageError: It is not.
    """
    if value not in names:
        raise UsageError(complain_of_unknown(name, str(value), names, (name,), value=str(value)))
    return cast("Name", value)


# Databases and workloads.


WorkloadName = str | PathLike[str]


def parse_database(dsn: str, password: str | None) -> EngineTarget:
    """Parse a DSN; one without a password gets the given one, or PLIMSOLL_PASSWORD."""
    if not isinstance(dsn, str):
        raise UsageError(Complaint(("dsn",), "must be text"))
    if password is None:
        password = os.environ.get(PASSWORD, "")
    return parse_dsn(dsn, option="dsn", password=password)


def require_count(records: int | None) -> None:
    """Refuse a value that is no number of records; None stands for the workload's default.

    Raises:
        UsageError: The value is not valid.
    """
    if records is not None:
        number(records, "records", Range(1, 1e12), whole=True)


def load_named_workload(name: WorkloadName) -> tuple[Workload, bool]:
    """Load a workload by its name or file; the second value says whether it is built in."""
    text = fspath(name)
    return load_workload(text), text in list_builtin_names()


# Every error becomes a `PlimsollError` that names arguments as Python does.


_NAMES = {
    "duration": "duration_s",
    "limit": "limits",
    "limit-us": "limits",
    "set": "parameters",
    "tables": "parameters",
    "time-limit": "time_limit_s",
    "warm": "warm_s",
    "warmup": "warmup_s",
}
# matches an option, or a whole command, which is left as it is typed
_OPTION = re.compile(r"plimsoll \w+(?: --[a-z-]+(?: \w[\w-]*)?)+|--([a-z]+(?:-[a-z]+)*)")


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn errors of other libraries into PlimsollErrors, and option names into argument names.

    Raises:
        PlimsollError: The translated error.
    """
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    except UsageError as error:
        raise type(error)(*map(_rename_complaint, error.complaints)) from None
    except PlimsollError as error:
        error.args = tuple(_rename_options(str(part)) for part in error.args)
        raise error from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise PlimsollError(f"{place}{error.strerror or error}") from None


def _rename_complaint(complaint: Complaint) -> Complaint | str:
    """Return a complaint with Python argument names; one about an option becomes a sentence."""
    text = str(complaint)
    return _rename_options(text) if _OPTION.search(text) else complaint


def _rename_options(text: str) -> str:
    def named(found: re.Match[str]) -> str:
        option: str | None = found[1]
        return found[0] if option is None else _NAMES.get(option, option.replace("-", "_"))

    return _OPTION.sub(named, text)

"""The arguments of the Python API: keywords from the tables of options, databases, errors."""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from textwrap import TextWrapper
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.complaints import Complaint
from plimsoll.errors import OptionError, PlimsollError, UsageError
from plimsoll.load_line.options import PASSWORD, Option, Options, list_options
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.validation import describe_first_error
from plimsoll.workload import Workload, load_workload

Function = TypeVar("Function", bound=Callable[..., object])
WorkloadName = str | PathLike[str]


def take_options(table: type[Options]) -> Callable[[Function], Function]:
    """Return a decorator that shows a table's options in a function's signature and docstring.

    The function takes them as `**options`. In its docstring they replace the line of that name.
    """

    def show_options(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(
                one.key, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
            for one in list_options(table)
        ]
        function.__signature__ = signature.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        lines = (function.__doc__ or "").splitlines()
        [place] = [n for n, line in enumerate(lines) if line.lstrip().startswith("**options:")]
        indent = lines[place].partition("*")[0]
        wrapper = TextWrapper(
            width=100,
            initial_indent=indent,
            subsequent_indent=f"{indent}    ",
            break_on_hyphens=False,
        )
        described = (wrapper.fill(describe_option(one)) for one in list_options(table))
        function.__doc__ = "\n".join([*lines[:place], *described, *lines[place + 1 :]])
        return function

    return show_options


def describe_option(one: Option) -> str:
    """Describe an option as in a docstring: `threads: The number of threads. Allowed: 1 to 64.`."""
    parts = [f"{one.key}: {one.about}", one.python]
    parts += [f"Allowed: {one.allowed}."] if one.allowed else []
    parts += [f"None for {one.unset}."] if one.unset else []
    return " ".join(filter(None, parts))


def parse_database(dsn: str, password: str | None) -> EngineTarget:
    """Parse a DSN; one without a password gets the given one, or PLIMSOLL_PASSWORD."""
    if not isinstance(dsn, str):
        raise OptionError(Complaint(("dsn",), "must be text"))
    if password is None:
        password = os.environ.get(PASSWORD, "")
    return parse_dsn(dsn, option="dsn", password=password)


def load_named_workload(name: WorkloadName) -> tuple[str, Workload]:
    """Load a workload by its name or file; the name comes as text."""
    return fspath(name), load_workload(fspath(name))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn errors of other libraries into PlimsollErrors, and hide where errors come from.

    Raises:
        PlimsollError: The translated error.
    """
    try:
        yield
    except ValidationError as error:
        raise UsageError(describe_first_error(error)) from None
    except PlimsollError as error:
        raise error from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise PlimsollError(f"{place}{error.strerror or error}") from None

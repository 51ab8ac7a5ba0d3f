"""Options that several verbs share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError
from plimsoll.load_line.options import (
    FindOptions,
    LoadOptions,
    Option,
    Options,
    PrepareOptions,
    list_options,
)

if TYPE_CHECKING:
    from plimsoll.workload import Workload


Command = TypeVar("Command", bound=Callable[..., Any])
_SHORT = "plimsoll.short"  # where a command's context has the options that are short for `--set`


def tell_new_name(old: str, new: str) -> None:
    """Say on standard error that a verb or option has a new name."""
    click.echo(
        f"plimsoll {old} is now plimsoll {new}; the old name works for one more release", err=True
    )


def dsn_option(command: Command) -> Command:
    """Add `--dsn`."""
    from plimsoll.model.request.dsn import FORM

    return click.option(
        "--dsn",
        envvar="PLIMSOLL_DSN",
        required=True,
        metavar="DSN",
        help=f"Address of the database: {FORM}[?tls=require]. The variable PLIMSOLL_DSN can hold"
        " it instead, or PLIMSOLL_PASSWORD the password alone, which keeps it out of the list of"
        " processes.",
    )(command)


def allow_files_option(command: Command) -> Command:
    """Add `--allow-files`."""
    return click.option(
        "--allow-files",
        multiple=True,
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        metavar="DIR",
        help="Inputs of phases (`file`) may also lie in this folder, or below; without it, in the"
        " folder of FILE or below.",
    )(command)


class _WorkloadName(click.types.StringParamType):
    """The value of `--workload`; says where workloads come from if it is missing."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return what stands after "Missing option"."""
        del param, ctx
        return (
            "`plimsoll workload list` names the built-in ones, `plimsoll workload derive DSN`"
            " writes one from the statements of your database, and docs/finding.md has one for"
            " tables of your own."
        )


def _join_scripts(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> str:
    """Return the workload's name: of several scripts, all of them with commas between."""
    from plimsoll.workload.pgbench.workload import SUFFIX, names_scripts

    joined = ",".join(names)
    if len(names) > 1 and not names_scripts(joined):
        problem = f"only pgbench scripts can be several: files whose names end in {SUFFIX}"
        raise click.BadParameter(problem, ctx=ctx, param=param)
    return joined


def _keep_setting(ctx: click.Context, param: click.Parameter, value: int | None) -> None:
    """Keep the value of an option that is short for `--set NAME=VALUE`, for `parse_settings`."""
    if value is not None:
        name = param.opts[0].removeprefix("--")
        ctx.meta.setdefault(_SHORT, {})[name] = str(value)


def _make_short_option(name: str, about: str) -> Callable[[Command], Command]:
    """Return an option that is short for `--set NAME=VALUE`."""
    return click.option(
        f"--{name}",
        type=int,
        metavar="N",
        expose_value=False,
        callback=_keep_setting,
        help=about,
    )


def workload_options(command: Command) -> Command:
    """Add `--workload`, `--set`, and what is short for `--set`."""
    for option in (
        click.option(
            "--set",
            "-D",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set a parameter of the workload; `plimsoll workload show NAME` lists them. Or a"
            " variable of a pgbench script, such as scale=10. Repeatable.",
        ),
        _make_short_option("tables", "Same as --set tables=N (sysbench)."),
        _make_short_option(
            "scale",
            "Same as -D scale=N: the value of :scale in pgbench scripts. Without it, the number of"
            " rows in pgbench_branches, or 1.",
        ),
        _make_short_option(
            "max-tries",
            "How often a pgbench script is tried that meets a deadlock or a serialization failure"
            " (default 1).",
        ),
        click.option(
            "--workload",
            "workload_name",
            type=_WorkloadName(),
            required=True,
            multiple=True,
            callback=_join_scripts,
            metavar="NAME|FILE.yaml|FILE.sql[@WEIGHT]",
            help="Name of a built-in workload (`plimsoll workload list` lists them), or a file. A"
            " file that ends in .sql is a pgbench script; several are chosen by weight. Repeatable"
            " for scripts.",
        ),
    ):
        command = option(command)
    return command


def parse_settings(workload: Workload, settings: tuple[str, ...]) -> dict[str, Scalar]:
    """Parse `--set`, and the options of the command that are short for it.

    Raises:
        UsageError: A setting is not NAME=VALUE, repeats a name, or names an unknown parameter.
    """
    values: dict[str, Scalar] = {}
    pairs = [("--set", *setting.partition("=")) for setting in settings]
    short = click.get_current_context().meta.get(_SHORT, {})
    pairs += [(f"--{name}", name, "=", value) for name, value in short.items()]
    for option, name, equals, value in pairs:
        if not equals or not name:
            raise UsageError(f"{option}: must be NAME=VALUE, not {name!r}")
        if name in values:
            raise UsageError(f"{option}: {name} is given twice")
        if name not in workload.setting_names:
            known = ", ".join(workload.setting_names) or "none"
            problem = f"{workload.name} has no parameter {name!r} (it has: {known})"
            raise UsageError(f"{option}: {problem}")
        values[name] = workload.check_setting(name, value)
    return values


# Several numbers in one option: `--connections 1,2,4`.


class NumberList(click.ParamType[tuple[float, ...]]):
    """Comma-separated numbers above 0."""

    name = "numbers"

    def __init__(self, *, whole: bool = False) -> None:
        """Accept only whole numbers, or any."""
        self.whole = whole

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Parse the numbers, or name the wrong one."""
        numbers = []
        for text in str(value).split(","):
            try:
                number = float(text)
            except ValueError:
                number = math.nan
            if not 0 < number < math.inf or (self.whole and number != int(number)):
                kind = "whole number" if self.whole else "number"
                self.fail(f"{text.strip()!r} is not a {kind} above 0.", param, ctx)
            numbers.append(number)
        return tuple(numbers)


# A number in one option.


class WholeRange(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"


class NumberRange(click.FloatRange):
    """A number within bounds. `nan`, which no bound excludes, is refused."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Parse the number, or say what is wrong with it."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


# Options of the tables in load_line/options.py.


# The flag of each option, by the key under which an error names the option.
FLAGS = {"workload": "--workload", "parameters": "--set", "order": "--order"} | {
    one.key: one.flag.partition("/")[0]
    for table in (FindOptions, LoadOptions, PrepareOptions)
    for one in list_options(table)
}


def table_options(table: type[Options]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds a table's options; the command receives them as `options`."""

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run_with_options(*arguments: Any, **given: Any) -> Any:
            values = {one.key: given.pop(one.key) for one in list_options(table)}
            return command(*arguments, options=table(**values), **given)

        for one in reversed(list_options(table)):
            run_with_options = make_option(one)(run_with_options)
        return run_with_options

    return add_options


def make_option(one: Option) -> Callable[[Command], Command]:
    """Return the decorator that adds an option to a command."""
    parts = [one.about, one.typed, f" [default: {one.unset}]" if one.unset else ""]
    further: dict[str, Any] = {}
    if bool in one.kinds:
        further["is_flag"] = True
    elif one.parse is not None:
        parse = one.parse
        further |= {"multiple": True, "callback": lambda _, __, texts: parse(texts)}
    else:
        further |= {"type": _choose_type(one), "show_default": one.default is not None}
    if not further.get("multiple"):
        further["default"] = one.default
    return click.option(
        one.flag, one.key, help=" ".join(filter(None, parts)), metavar=one.form or None, **further
    )


def _choose_type(one: Option) -> click.ParamType[Any]:
    if one.choices:
        return click.Choice(one.choices)
    if one.kinds[0] is str:
        return click.STRING
    allowed = one.allowed
    assert allowed is not None  # noqa: S101 - a number of a table has a range
    if float in one.kinds:
        least, most = (None if end is None else float(end) for end in (allowed.least, allowed.most))
        return NumberRange(least, most, min_open=allowed.open)
    least, most = (None if end is None else int(end) for end in (allowed.least, allowed.most))
    return WholeRange(least, most)

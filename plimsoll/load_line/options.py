"""Every option of `plimsoll find`, `load` and `prepare`, for the command line and for Python.

An option is written once, as a field of a table: its key, type and default are the field's, and
`option` adds its flag and what it does. The command line makes its options of a table, and Python
the keywords of a function. Then the limits and stop rules that people write: `read=5ms`,
`p99 > 200ms`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from plimsoll import words
from plimsoll.complaints import Complaint, Range, complain_of_unknown
from plimsoll.errors import OptionError
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import POLL_MOST_US, POLL_US, LoadOrder
from plimsoll.model.judging.capacity import AuditName, Confirmation
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.quantities import NO_LATENCY, read_latency_us

USER, PASSWORD = "PLIMSOLL_USER", "PLIMSOLL_PASSWORD"
Name = TypeVar("Name", bound=str)
Parse = Callable[[tuple[str, ...]], object]


# The checks of single values.


def read_option_number(value: float, key: str, allowed: Range, *, whole: bool = False) -> float:
    """Return a number after checking its range. The upper bound itself is always allowed.

    Raises:
        OptionError: The value is not a number or out of range.
    """
    if not isinstance(value, int if whole else (int, float)) or isinstance(value, bool):
        problem = "is not a whole number" if whole else "is not a number"
        raise OptionError(Complaint((key,), f"{value!r} {problem}", None, allowed))
    least, most = allowed.least, allowed.most
    enough = least is None or (value > least if allowed.open else value >= least)
    if not (enough and (most is None or value <= most)):  # `nan` is neither
        raise OptionError(Complaint((key,), f"{value} is out of range", value, allowed))
    return value


def check_name(value: str, names: Collection[Name], key: str) -> Name:
    """Return a name after checking that it is one of the allowed ones.

    Raises:
        OptionError: It is not.
    """
    if value not in names:
        raise OptionError(complain_of_unknown(key, str(value), names, (key,), value=str(value)))
    return cast("Name", value)


# Tables of options.


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        key: The name of the field, and of the keyword in Python.
        type: The type of its values.
        default: The value if it is not given.
        flag: The option on the command line; a switch may name its opposite: `--drop/--keep`.
        about: What it does, in sentences for both.
        typed: How it is written on the command line, if `about` does not say it.
        python: How it is written in Python, if `about` does not say it.
        form: The form of the value in the command line's help; empty for that of its type.
        unset: What the default None stands for.
        allowed: The allowed numbers; None if it is not a number, or if another module checks it.
        parse: Turns the texts of an option that may be repeated into its value.
    """

    key: str
    type: Any
    default: Any
    flag: str
    about: str
    typed: str = ""
    python: str = ""
    form: str = ""
    unset: str = ""
    allowed: Range | None = None
    parse: Parse | None = None

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that its values may have: `int` and None's type for `int | None`."""
        union = get_origin(self.type) in {Union, UnionType}
        return get_args(self.type) if union else (self.type,)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed names; empty if its values are no names."""
        return tuple(
            name for kind in self.kinds if get_origin(kind) is Literal for name in get_args(kind)
        )

    def check(self, value: Any) -> None:
        """Refuse a number out of range, and an unknown name.

        Raises:
            OptionError: The value is not allowed.
        """
        if value is None and self.default is None:
            return
        if self.choices:
            check_name(value, self.choices, self.key)
        elif self.allowed is not None:
            read_option_number(value, self.key, self.allowed, whole=float not in self.kinds)


def option(flag: str, default: Any, about: str, **further: Any) -> Any:
    """Return a field for an option; `Option` explains the arguments."""
    return field(default=default, metadata={"flag": flag, "about": about, **further})


@dataclass(frozen=True, kw_only=True)
class Options:
    """Values of the options of a table, each of which is checked."""

    def __post_init__(self) -> None:
        """Check every value."""
        for one in list_options(type(self)):
            one.check(getattr(self, one.key))


def list_options(table: type[Options]) -> tuple[Option, ...]:
    """List the options of a table in their order."""
    return tuple(Option(one.name, one.type, one.default, **one.metadata) for one in fields(table))


# The tables.


@dataclass(frozen=True)
class Effort:
    """The trade between a search's duration and the certainty of its answer.

    Attributes:
        warmup_s: The warm-up of each step.
        duration_s: The window of each step.
        factor: The ratio between the loads of successive steps.
        resolution: The relative width of the bracket at which the search ends.
        confirmation: The repetitions that confirm the answer.
        recovery_max_s: The longest wait for the target to recover from an overload.
    """

    warmup_s: float
    duration_s: float
    factor: float
    resolution: float
    confirmation: Confirmation
    recovery_max_s: float = 30.0


USUAL = Effort(1.0, 5.0, 1.5, 0.05, Confirmation())
QUICK = Effort(1.0, 2.0, 2.0, 0.15, Confirmation(least=3, most=5, precision=0.1))
RULES = "'p99 > 200ms', 'p99.read > 200ms' (or p50, max), errors, 'errors > 1%', 'rate > 500'"
Limit = str | float  # "5ms", or a number of microseconds
Limits = Mapping[str, Limit] | Limit | None  # the name "" stands for all other operations


def split_limits(texts: Iterable[str]) -> dict[str, Limit]:
    """Split limits of a command line: `read=5ms` for one operation, `5ms` for all others.

    Raises:
        OptionError: An operation is given twice.
    """
    limits: dict[str, Limit] = {}
    for text in texts:
        name, _, latency = text.rpartition("=")
        if name in limits:
            problem = f"{name or 'the limit of all others'} is given twice"
            raise OptionError(Complaint(("limits",), problem))
        limits[name] = latency
    return limits


_RECORDS = Range(least=1)
_RATE = Range(0, 10_000_000, open=True)
_SECONDS = Range(0, 600)
_LONG_SECONDS = Range(0, 86_400)


@dataclass(frozen=True, kw_only=True)
class FindOptions(Options):
    """The options of `plimsoll find` and `plimsoll.find`."""

    limits: Limits = option(
        "--limit",
        None,
        "The longest latency that an operation may take:",
        typed="read=5ms for one operation, 5ms for all others. Repeatable.",
        python='`{"read": "5ms"}`, or `"5ms"` for all operations; a number is in microseconds.',
        form="[OPERATION=]LATENCY",
        unset="3 times its latency under the lightest load",
        parse=split_limits,
    )
    statistic: Statistic = option(
        "--statistic", "p99", "The latency statistic that the limits apply to."
    )
    records: int | None = option(
        "--records",
        None,
        "The number of records in the dataset.",
        form="N",
        allowed=_RECORDS,
        unset="those that exist; the workload's own number if they are made",
    )
    prepare: bool = option(
        "--prepare",
        False,
        "Make the workload's tables and rows if they do not exist. Tables that Plimsoll did not"
        " make are never touched.",
    )
    drop: bool = option("--drop/--keep", False, "Drop the tables that Plimsoll made at the end.")
    allow_writes: bool = option(
        "--allow-writes", False, "Let the workload change rows that Plimsoll did not make."
    )
    strategy: Literal["ramp", "rate"] = option(
        "--strategy",
        "ramp",
        "ramp raises the number of connections, each of which waits for its reply before it sends"
        " again (closed loop). rate raises the rate at which operations are due, whether or not"
        " replies arrive (open loop).",
    )
    max_connections: int = option(
        "--max-connections", 256, "The highest number of connections.", allowed=Range(1, 20_000)
    )
    max_rate: float | None = option(
        "--max-rate",
        None,
        "With rate, the highest rate to try, in operations per second. With ramp, a second with"
        " more operations ends the load.",
        form="OPS/S",
        allowed=_RATE,
        unset="no limit",
    )
    volume: str | None = option(
        "--volume",
        None,
        "The volume that the database stands on, so that its IOPS can be named as the limit:"
        " fields of a request's volume, such as type=gp3,size_gib=400 (docs/volumes.md).",
        form="FIELD=VALUE,...",
        unset="not known, and never named",
    )
    stop_if: str | Sequence[str] = option(
        "--stop-if",
        (),
        f"A condition that ends the load at once, checked each second: {RULES}.",
        typed="Repeatable.",
        python="One text, or several.",
        form="RULE",
        parse=tuple,
    )
    warmup_s: float | None = option(
        "--warmup",
        None,
        "The warm-up before each window, in seconds.",
        form="SECONDS",
        allowed=_SECONDS,
        unset=f"{USUAL.warmup_s:g}",
    )
    duration_s: float | None = option(
        "--duration",
        None,
        "The length of each measured window, in seconds.",
        form="SECONDS",
        allowed=Range(0.001, 600),
        unset=f"{USUAL.duration_s:g}; {QUICK.duration_s:g} if quick",
    )
    warm_s: float = option(
        "--warm",
        5.0,
        "The load before the first step, which fills the caches, in seconds.",
        form="SECONDS",
        allowed=_SECONDS,
    )
    time_limit_s: int = option(
        "--time-limit",
        900,
        "The time after which no further step begins, in seconds.",
        form="SECONDS",
        allowed=Range(10, 86_400),
    )
    audits_off: Sequence[AuditName] = option(
        "--without-audit",
        (),
        "An audit to skip, so that steps that it would dispute count. Without undisturbed, the"
        " search does not wait while other programs keep this machine busy, and the result says"
        " so.",
        typed="Repeatable.",
        python="Names of audits.",
        form="AUDIT",
        parse=tuple,
    )
    quick: bool = option(
        "--quick",
        False,
        "Take less than a minute: shorter windows, wider steps, fewer repetitions. The answer is"
        " less certain, and says so.",
    )

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        for audit in self.audits_off:
            check_name(audit, get_args(AuditName), "audits_off")

    @property
    def effort(self) -> Effort:
        """How long the search may take for how certain an answer."""
        return QUICK if self.quick else USUAL


@dataclass(frozen=True, kw_only=True)
class LoadOptions(Options):
    """The options of `plimsoll load` and `plimsoll.load`."""

    records: int | None = option(
        "--records",
        None,
        "The number of records in the dataset.",
        form="N",
        allowed=_RECORDS,
        unset="those that `plimsoll prepare` has made",
    )
    connections: int = option(
        "--connections", 8, "The number of connections.", allowed=Range(1, 20_000)
    )
    threads: int | None = option(
        "--threads",
        None,
        "The number of sending threads.",
        allowed=Range(1, 64),
        unset="2 if the database is on this machine and no rate is given; else 1",
    )
    poll_us: int | None = option(
        "--poll-us",
        None,
        "How long to busy-poll for replies before sleeping, in microseconds.",
        allowed=Range(0, POLL_MOST_US),
        unset=f"{POLL_US} if the database is on another machine and a processor is free; else 0",
    )
    warmup_s: float = option(
        "--warmup",
        5.0,
        "The warm-up before the measured window, in seconds.",
        form="SECONDS",
        allowed=_LONG_SECONDS,
    )
    duration_s: float = option(
        "--duration",
        30.0,
        "The length of the measured window, in seconds.",
        form="SECONDS",
        allowed=Range(0.001, 86_400),
    )
    rate: float | None = option(
        "--rate",
        None,
        "The operations per second (open loop): latency counts from the time at which an operation"
        " was due.",
        form="OPS/S",
        allowed=_RATE,
        unset="a closed loop, in which each connection waits for its reply before it sends again",
    )
    arrivals: Literal["constant", "poisson"] | None = option(
        "--arrivals",
        None,
        "The distribution of the times at which the operations of an open loop are due.",
        unset="constant",
    )
    operations_most: int | None = option(
        "--operations",
        None,
        "The number of operations after which the load ends early.",
        form="N",
        allowed=Range(1, 2**53),
        unset="no limit",
    )
    timeout_ms: int = option(
        "--timeout-ms",
        60_000,
        "The time-out of an operation, in milliseconds. One that takes longer counts as failed.",
        allowed=Range(1, 300_000),
    )
    seed: int | None = option(
        "--seed",
        None,
        "The random seed: equal seeds give equal sequences of operations.",
        form="N",
        allowed=Range(0, 2**64 - 1),
        unset="a new one",
    )
    statements: bool = option(
        "--statements",
        False,
        "Record the latency of each statement inside the operations. A transaction is sent"
        " statement by statement then, on PostgreSQL too.",
    )
    conditions: bool = option(
        "--conditions/--no-conditions",
        True,
        "Check the workload's conditions, such as TPC-C's twelve, on all rows after the load, for"
        " five minutes at most. `versus` checks none.",
    )

    def __post_init__(self) -> None:
        """Check every value, and that only an open loop has arrivals."""
        super().__post_init__()
        if self.arrivals is not None and self.rate is None:
            remedies = (("rate", "makes it one"),)
            raise OptionError(
                Complaint(("arrivals",), "is for an open loop only", remedies=remedies)
            )


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(Options):
    """The options of `plimsoll prepare` and `plimsoll.prepare`."""

    records: int | None = option(
        "--records",
        None,
        "The number of records, as the workload defines them.",
        form="N",
        allowed=_RECORDS,
        unset="the workload's own number",
    )
    connections: int = option(
        "--connections",
        8,
        "The number of connections that insert at the same time.",
        allowed=Range(1, 1000),
    )
    load_order: LoadOrder = option(
        "--load-order",
        "key",
        "key inserts rows in the order of their keys. number inserts them by their numbers, as YCSB"
        " does: hashed keys then come in no order and leave a larger table.",
    )


# Limits and stop rules.


def parse_limits_us(limits: Limits, operations: Collection[str]) -> dict[str, float]:
    """Parse limits, one for all operations or by name; returns microseconds by operation.

    Raises:
        OptionError: A limit is not a latency, or names an operation that the workload lacks.
    """
    named = limits if isinstance(limits, Mapping) else {} if limits is None else {"": limits}
    for name in named:
        if name and name not in operations:
            raise OptionError(
                complain_of_unknown("operation", str(name), operations, ("limits",), value=name)
            )
    parsed = {name: _parse_limit_us(limit, name) for name, limit in named.items()}
    others = dict.fromkeys(operations, parsed.pop("")) if "" in parsed else {}
    return {**others, **parsed}


def _parse_limit_us(limit: Limit, name: str) -> float:
    if isinstance(limit, str):
        return _parse_latency_us(limit, *(("limits", name) if name else ("limits",)))
    return read_option_number(limit, "limits", Range(0, 300e6, open=True))


def _parse_latency_us(text: str, *path: str) -> float:
    latency_us = read_latency_us(text)
    if latency_us is None:
        raise OptionError(Complaint(path, f"{text!r} {NO_LATENCY}"))
    return latency_us


_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%", re.ASCII)
_RULE = re.compile(r"(p50|p99|max|errors|rate)(?:\.([\w-]{1,64}))?(?: ?> ?(.{1,24}))?")
Kind = Literal["p50", "p99", "max", "errors", "rate"]


@dataclass(frozen=True)
class StopRule:
    """A condition that ends the load at once.

    Attributes:
        text: The rule in words, for the result.
        operation: The operation that it applies to; None for each.
        kind: What it looks at in a second: a latency, the errors, or the successful operations.
        most: The highest allowed value: microseconds, the share that may fail, or operations.
    """

    text: str
    operation: str | None
    kind: Kind
    most: float

    @classmethod
    def parse(cls, text: str, operations: Collection[str]) -> "StopRule":
        """Parse a rule.

        Raises:
            OptionError: The text is not a rule, or names an operation that the workload lacks.
        """
        match = _RULE.fullmatch(text.strip())
        if match is None:
            raise OptionError(Complaint(("stop_if",), f"{text!r} is not a rule: {RULES}"))
        kind, operation, most = match.groups()
        if operation is not None and operation not in operations:
            raise OptionError(
                complain_of_unknown(
                    "operation", operation, operations, ("stop_if",), value=operation
                )
            )
        told = f"stop rule {text!r}"
        if kind == "errors":
            return cls(told, operation, "errors", _parse_share(most) if most else 0.0)
        if most is None:
            raise OptionError(Complaint(("stop_if",), f"{text!r} has no limit: {RULES}"))
        if kind == "rate":
            if not _NUMBER.fullmatch(most) or not float(most):
                raise OptionError(
                    Complaint(("stop_if",), f"{text!r} has no number above 0: {RULES}")
                )
            return replace(cls.limit_rate(float(most)), operation=operation)
        return cls(told, operation, cast("Kind", kind), _parse_latency_us(most, "stop_if"))

    @classmethod
    def limit_rate(cls, most: float) -> "StopRule":
        """Create the rule that limits the successful operations per second."""
        return cls(f"maximum rate {most:g}", None, "rate", most)

    def find_broken_limit(self, second: Sequence[SecondReport]) -> str | None:
        """Describe how one client's second breaks the rule; None if it does not."""
        mine = [part for part in second if self.operation in (None, part.operation)]
        succeeded = sum(part.succeeded for part in mine)
        if self.kind == "rate":
            done_words = f"{succeeded:,} operations were done within a second"
            return done_words if succeeded > self.most else None
        if self.kind == "errors":
            failed = sum(part.errors for part in mine)
            done = failed + succeeded
            if not failed or failed <= self.most * done:
                return None
            return f"{failed:,} of {done:,} operations failed within a second"
        for part in mine:
            us = getattr(part, f"{self.kind}_us")
            if us is not None and us > self.most:
                name = words.name_statistic(self.kind)
                return f"{part.operation} {name} was {words.format_latency(us)} within a second"
        return None


def _parse_share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    if match is None or float(match[1]) > 100:
        raise OptionError(Complaint(("stop_if",), f"{text!r} is not a share: write errors > 1%"))
    return float(match[1]) / 100

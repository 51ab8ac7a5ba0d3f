r"""A pgbench script, read into the operation that a load sends.

Each run of the script is one operation. Statements are prepared, and variables are their
parameters, as with `pgbench -M prepared`. Each is sent when the one before is answered, as pgbench
does, except in a pipeline and between `\;`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from plimsoll.complaints import Complaint, Place
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.engine.asked import (
    AwaitStep,
    EngineOperation,
    EngineStatement,
    Returned,
    SendStep,
    SetStep,
    SleepStep,
    Step,
    WhenStep,
)
from plimsoll.model.engine.scripts import Formula, find_variables
from plimsoll.model.engine.values import VariableValue
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.pgbench.columns import name_columns
from plimsoll.workload.pgbench.formulas import read_formula
from plimsoll.workload.pgbench.scanner import Meta, Piece, Sql, scan
from plimsoll.workload.rows import derive_least_rows
from plimsoll.workload.statements import MAX_CHARACTERS, MAX_PLACEHOLDERS
from plimsoll.workload.tokens import Token

MOST_STATEMENTS = 1000
DEEPEST = 50  # branches within each other; an \elif is one within the one before
_VARIABLE = re.compile(r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*")
_IN_QUOTES = re.compile(rf":({_VARIABLE.pattern})")
_SLEEP = re.compile(r"(?::(\w+)|[-+]?(\d+)([A-Za-z]*))")
_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000}
_SLEEP_MOST_US = 600_000_000
_PARTS = ("elif", "else", "endif")


@dataclass(frozen=True)
class Script:
    """A script.

    Attributes:
        operation: What a load sends.
        used: The variables that it uses, each with the place of its first use.
        assigned: The variables that it sets.
    """

    operation: EngineOperation
    used: dict[str, Place]
    assigned: frozenset[str]


def read_script(text: str, *, source: str, name: str, weight: float) -> Script:
    """Read a script.

    Args:
        text: The script.
        source: The name of its file, for messages.
        name: The operation's name.
        weight: How often it is chosen among the others.

    Raises:
        WorkloadError: Something in it cannot be run; names file and line.
    """
    reader = _Reader(source, [])
    try:
        reader.commands = list(scan(text))
    except WorkloadError as error:
        raise _place_complaints(error, source, error.complaints[0].path[0]) from None
    steps = reader.read_block(())
    if not steps:
        raise WorkloadError(Complaint((), "has no commands", place=Place(source)))
    if reader.pipeline:
        _refuse(source, reader.line, "\\startpipeline: lacks its \\endpipeline")
    if not _sends(steps):
        problem = "there is a way through it on which no statement is sent"
        raise WorkloadError(Complaint((), problem, place=Place(source)))
    for used, (place, line) in reader.quoted.items():
        if used in reader.used or used in reader.assigned:
            _refuse(source, line, f":{used} {place}")
    operation = EngineOperation(
        name=name,
        weight=weight,
        own_transactions=True,
        statements=tuple(reader.statements),
        steps=tuple(steps),
    )
    return Script(operation, reader.used, frozenset(reader.assigned))


@dataclass
class _Reader:
    """Reads commands in turn.

    Attributes:
        quoted: What looks like a variable and is no parameter, with why not and the line.
    """

    source: str
    commands: list[Sql | Meta]
    at: int = 0
    line: int = 1
    pipeline: bool = False
    statements: list[EngineStatement] = field(default_factory=list)
    used: dict[str, Place] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    quoted: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.source}:{self.line}"

    def read_block(self, ends: Sequence[str], depth: int = 0) -> list[Step]:
        """Read commands up to one of those that end a branch, which is not taken."""
        if depth > DEEPEST:
            _refuse(self.source, self.line, f"has more than {DEEPEST} branches within each other")
        steps: list[Step] = []
        pipeline = self.pipeline
        while self.at < len(self.commands):
            command = self.commands[self.at]
            self.line = command.line
            if isinstance(command, Meta) and command.name in _PARTS:
                if command.name in ends:
                    break
                before = "after \\else" if ends else "without its \\if"
                _refuse(self.source, self.line, f"\\{command.name}: stands {before}")
            self.at += 1
            if isinstance(command, Sql):
                with self._located():
                    steps += self._read_sql(command)
            else:
                with self._located(f"\\{command.name}: "):
                    steps += self._read_meta(command, depth)
        if ends and self.pipeline != pipeline:
            problem = "a pipeline begins and ends in the same branch"
            _refuse(self.source, self.line, problem)
        return steps

    def _read_meta(self, command: Meta, depth: int) -> list[Step]:
        words = command.rest.replace("\\\r\n", " ").replace("\\\n", " ").split()
        match command.name:
            case "set":
                return [self._read_set(command.rest)]
            case "if":
                return [self._read_if(command, depth)]
            case "sleep":
                return [self._read_sleep(words)]
            case "startpipeline" | "endpipeline":
                return self._read_pipeline(command.name, words)
            case "gset" | "aset":
                raise build_workload_error("follows an SQL command, of which it is the only one")
            case "shell" | "setshell":
                raise build_workload_error("is never run: a load runs no programs")
            case "syncpipeline":
                raise build_workload_error(
                    "is not supported: end the pipeline, and begin another, which waits for answers"
                )
        raise build_workload_error("is no command of pgbench")

    def _read_set(self, rest: str) -> Step:
        name, _, text = re.sub(r"\\\r?\n", " ", rest).strip().partition(" ")
        if not name:
            raise build_workload_error("lacks the name of a variable")
        self._assign(name)
        return SetStep(name=name, of=self._read_formula(text), place=self.place)

    def _read_if(self, command: Meta, depth: int) -> Step:
        r"""Read the branch that begins here, up to its \endif."""
        begun, place = self.line, self.place
        condition = self._read_formula(command.rest)
        then = self.read_block(_PARTS, depth + 1)
        otherwise: list[Step] = []
        part = self._take_part(begun)
        if part.name == "elif":
            with self._located("\\elif: "):
                otherwise = [self._read_if(part, depth + 1)]
        elif part.name == "else":
            self._require_nothing(part)
            otherwise = self.read_block(("endif",), depth + 1)
            self._require_nothing(self._take_part(begun))
        else:
            self._require_nothing(part)
        return WhenStep(
            condition=condition, place=place, then=tuple(then), otherwise=tuple(otherwise)
        )

    def _take_part(self, begun: int) -> Meta:
        if self.at == len(self.commands):
            _refuse(self.source, begun, "\\if: lacks its \\endif")
        part = self.commands[self.at]
        assert isinstance(part, Meta)  # noqa: S101 - it ended the block
        self.at += 1
        self.line = part.line
        return part

    def _require_nothing(self, part: Meta) -> None:
        if part.rest:
            _refuse(self.source, part.line, f"\\{part.name}: takes no argument")

    def _read_sleep(self, words: list[str]) -> Step:
        if self.pipeline:
            raise build_workload_error("is not possible within a pipeline")
        if not 1 <= len(words) <= 2:
            raise build_workload_error("takes a time and a unit: \\sleep 10 ms")
        found = _SLEEP.fullmatch(words[0])
        if found is None or (found[3] and words[1:]):
            raise build_workload_error(f"{words[0]} is neither a whole number nor a variable")
        unit = (words[1] if words[1:] else found[3] or "s").lower()
        if unit not in _UNITS_US:
            raise build_workload_error(f"{unit} is no unit: us, ms or s")
        if found[1]:
            self._use(found[1])
            return SleepStep(us=_UNITS_US[unit], times=found[1], place=self.place)
        us = 0 if words[0].startswith("-") else int(found[2]) * _UNITS_US[unit]
        if us > _SLEEP_MOST_US:
            raise build_workload_error(f"{words[0]} is longer than 600 s")
        return SleepStep(us=us, place=self.place)

    def _read_pipeline(self, name: str, words: list[str]) -> list[Step]:
        if words:
            raise build_workload_error("takes no argument")
        begins = name == "startpipeline"
        if begins == self.pipeline:
            raise build_workload_error(
                "is in a pipeline already" if begins else "there is no pipeline"
            )
        self.pipeline = begins
        return [] if begins else [AwaitStep()]

    def _read_sql(self, command: Sql) -> list[Step]:
        """Read statements that are sent together, with the command that keeps their results."""
        following = self.commands[self.at] if self.at < len(self.commands) else None
        kept: Meta | None = None
        if isinstance(following, Meta) and following.name in {"gset", "aset"}:
            self.at += 1
            kept = following
        *first, last = command.statements
        for pieces in first:
            self._add_statement(pieces)
        self._add_statement(last)
        count = len(self.statements)
        if kept is not None:
            self.line = kept.line
            with self._located(f"\\{kept.name}: "):
                self._keep_result(kept, command)
        indexes = range(count - len(command.statements), count)
        return [
            SendStep(statement=index, ahead=self.pipeline or index + 1 < count) for index in indexes
        ]

    def _keep_result(self, kept: Meta, command: Sql) -> None:
        words = kept.rest.split()
        if len(words) > 1:
            raise build_workload_error("takes one prefix")
        if self.pipeline:
            raise build_workload_error("is not possible within a pipeline")
        if kept.name == "aset" and len(command.statements) > 1:
            raise build_workload_error("keeps the rows of one statement, and there are several")
        names = [f"{''.join(words)}{name}" for name in name_columns(command.statements[-1])]
        for name in names:
            self._assign(name)
        only = kept.name == "gset"
        self.statements[-1] = self.statements[-1].model_copy(
            update={
                "returns": tuple(Returned(name=name, kind="text") for name in names),
                "row": "only" if only else "last",
                "rows_least": int(only),
            }
        )

    def _add_statement(self, pieces: Sequence[Piece]) -> None:
        if len(self.statements) == MOST_STATEMENTS:
            raise build_workload_error(f"has more than {MOST_STATEMENTS} statements")
        if pieces[0].unquoted == "COPY":
            raise build_workload_error("COPY: no operation may be one")
        text, binds = self._write_text(pieces)
        if len(binds) > MAX_PLACEHOLDERS:
            raise build_workload_error(
                f"{len(binds)} parameters; a statement takes {MAX_PLACEHOLDERS}"
            )
        if len(text) + sum(len(each.sql[0]) for each in self.statements) > MAX_CHARACTERS:
            raise build_workload_error(f"has more than {MAX_CHARACTERS} characters")
        tokens = tuple(
            Token(piece.kind, piece.text, 0, 0)
            for piece in pieces
            if piece.kind != "comment" and piece.kind != "variable"  # noqa: PLR1714 - mypy narrows
        )
        least = derive_least_rows(tokens, named=None, rows_per_statement=1) if tokens else 0
        self.statements.append(EngineStatement(sql=(text,), binds=tuple(binds), rows_least=least))

    def _write_text(self, pieces: Sequence[Piece]) -> tuple[str, list[VariableValue]]:
        """Write a statement with $1, $2 ... for its variables."""
        parts: list[str] = []
        binds: list[VariableValue] = []
        for before, piece in zip([None, *pieces], pieces, strict=False):
            text = piece.text
            if piece.kind == "variable":
                if before is not None and not piece.gap and before.kind in {"word", "number"}:
                    raise build_workload_error(
                        f":{text} joins what is before it, and a parameter is a value of its own"
                    )
                self._use(text)
                binds.append(VariableValue(name=text))
                text = f"${len(binds)}"
            elif piece.kind in {"text", "name"}:
                for found in _IN_QUOTES.finditer(text):
                    why = "stands within quotes, where no parameter can be"
                    self.quoted.setdefault(found[1], (why, self.line))
            parts.append((piece.gap if parts else "") + text)
        return "".join(parts), binds

    def _read_formula(self, text: str) -> Formula:
        formula = read_formula(text)
        for name in find_variables(formula):
            self._use(name)
        return formula

    def _use(self, name: str) -> None:
        self.used.setdefault(name, Place(self.source, self.line))

    def _assign(self, name: str) -> None:
        if not _VARIABLE.fullmatch(name):
            raise build_workload_error(f"{name!r} is no name of a variable: letters, digits and _")
        self.assigned.add(name)

    @contextmanager
    def _located(self, before: str = "") -> Iterator[None]:
        """Add file and line to the errors that the block raises."""
        try:
            yield
        except UsageError as error:
            raise _place_complaints(error, self.source, self.line, before) from None


def _sends(steps: Sequence[Step]) -> bool:
    """Whether a statement is sent, whatever the conditions say."""
    return any(
        isinstance(step, SendStep)
        or (isinstance(step, WhenStep) and _sends(step.then) and _sends(step.otherwise))
        for step in steps
    )


def _place_complaints(
    error: UsageError, source: str, line: int | str, before: str = ""
) -> WorkloadError:
    """Return an error with file and line; one that has them stays."""
    return WorkloadError(
        *(
            about
            if about.place is not None
            else Complaint((), before + about.problem, place=Place(source, int(line)))
            for about in error.complaints
        )
    )


def _refuse(source: str, line: int, problem: str) -> NoReturn:
    raise WorkloadError(Complaint((), problem, place=Place(source, line)))

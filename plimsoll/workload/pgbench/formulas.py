"""The expressions of pgbench's scripts, read into formulas that the engine computes.

Operators bind as in PostgreSQL (pgbench's documentation, "Built-in Operators"): from the loosest,
`or`, `and`, `not`, `is`, comparisons, `| # & << >> ~`, `+ -`, `* / %`, signs. A comparison does not
follow another one.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from plimsoll.errors import WorkloadError
from plimsoll.model.engine.scripts import (
    CallFormula,
    ConstantFormula,
    Formula,
    FormulaFunction,
    VariableFormula,
)
from plimsoll.workload.declared import build_workload_error

SEED = "default_seed"  # the variable that hashes and permutations are seeded with
DEEPEST = 100  # parts within each other
MOST_VALUES = 16  # that a function may take, as in pgbench
_HIGHEST = 2**63 - 1

_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\f\v]|\\\r?\n)+)
  | :(?P<variable>[A-Za-z0-9_\x80-\U0010ffff]+)
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
  | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*)
  | (?P<mark><<|>>|<=|>=|<>|!=|[-+*/%()=<>|\#&~,])
""",
    re.VERBOSE,
)

# How tightly each operator between two values binds, and its function. `a > b` is read as `b < a`,
# and `a >= b` as `b <= a`
_OPERATORS: dict[str, tuple[int, FormulaFunction]] = {
    "or": (1, "or"),
    "and": (2, "and"),
    "=": (5, "equal"),
    "<>": (5, "different"),
    "!=": (5, "different"),
    "<": (5, "less"),
    "<=": (5, "at_most"),
    ">": (5, "less"),
    ">=": (5, "at_most"),
    "|": (6, "bit_or"),
    "#": (6, "bit_xor"),
    "&": (6, "bit_and"),
    "<<": (6, "shift_left"),
    ">>": (6, "shift_right"),
    "+": (7, "add"),
    "-": (7, "subtract"),
    "*": (8, "multiply"),
    "/": (8, "divide"),
    "%": (8, "remainder"),
}
_SWAPPED = {">", ">="}
_NOT, _IS, _COMPARISON, _BITS, _SIGN = 3, 4, 5, 6, 9
_IS_WORDS = {"is", "isnull", "notnull"}
_KEYWORDS = {*_IS_WORDS, "and", "or", "not", "case", "when", "then", "else", "end"}
_CONSTANTS = {"null": None, "true": True, "false": False}

# How many values each function takes; a hash and a permutation get the seed that is missing
_FUNCTIONS: dict[str, tuple[FormulaFunction, range]] = {
    "abs": ("abs", range(1, 2)),
    "double": ("double", range(1, 2)),
    "exp": ("exp", range(1, 2)),
    "greatest": ("greatest", range(1, MOST_VALUES + 1)),
    "hash": ("hash_murmur2", range(1, 3)),
    "hash_fnv1a": ("hash_fnv1a", range(1, 3)),
    "hash_murmur2": ("hash_murmur2", range(1, 3)),
    "int": ("int", range(1, 2)),
    "least": ("least", range(1, MOST_VALUES + 1)),
    "ln": ("ln", range(1, 2)),
    "mod": ("remainder", range(2, 3)),
    "permute": ("permute", range(2, 4)),
    "pi": ("pi", range(1)),
    "pow": ("power", range(2, 3)),
    "power": ("power", range(2, 3)),
    "random": ("random", range(2, 3)),
    "random_exponential": ("random_exponential", range(3, 4)),
    "random_gaussian": ("random_gaussian", range(3, 4)),
    "random_zipfian": ("random_zipfian", range(3, 4)),
    "sqrt": ("sqrt", range(1, 2)),
}
_SEEDED = {"hash_murmur2": 2, "hash_fnv1a": 2, "permute": 3}


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


def read_formula(text: str) -> Formula:
    """Read an expression.

    `debug(x)` is x: a load does not print.

    Raises:
        WorkloadError: It is not one.
    """
    reader = _Reader(tuple(_tokenize(text)))
    if reader.peek() is _END:
        raise build_workload_error("lacks an expression")
    read = reader.read(0)
    if reader.peek() is not _END:
        raise build_workload_error(f"cannot be read from {reader.peek().text!r} on")
    return read


def _tokenize(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise build_workload_error(f"has the unexpected character {text[at]!r}")
        kind = str(found.lastgroup)
        if kind == "word":
            yield _Token(kind, found[kind].lower())
        elif kind != "space":
            yield _Token(kind, found[kind])
        at = found.end()


class _Reader:
    """Reads tokens once, from left to right; `read(level)` takes operators that bind tighter."""

    def __init__(self, tokens: tuple[_Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def peek(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def read(self, level: int) -> Formula:
        self._depth += 1
        if self._depth > DEEPEST:
            raise build_workload_error(f"has more than {DEEPEST} parts within each other")
        left = self._read_first()
        highest = _SIGN  # a comparison does not follow another one
        while True:
            text = self.peek().text if self.peek().kind in {"word", "mark"} else ""
            if text in _IS_WORDS and level < _IS:
                left, highest = self._read_is(left), _SIGN
            elif text in _OPERATORS and level < _OPERATORS[text][0] < highest:
                left, highest = self._read_operator(text, left)
            else:
                break
        self._depth -= 1
        return left

    def _read_operator(self, text: str, left: Formula) -> tuple[Formula, int]:
        level, function = _OPERATORS[text]
        self._at += 1
        right = self.read(level)
        values = (right, left) if text in _SWAPPED else (left, right)
        return CallFormula(function=function, of=values), (
            _COMPARISON if level == _COMPARISON else _SIGN
        )

    def _read_is(self, left: Formula) -> Formula:
        word = self._next().text
        negated = word == "notnull"
        value: bool | None = None
        if word == "is":
            negated = self._skip("not")
            token = self._next()
            if token.kind != "word" or token.text not in _CONSTANTS:
                raise build_workload_error("is: null, true or false is allowed after it")
            value = _CONSTANTS[token.text]
        read = CallFormula(function="is", of=(left, ConstantFormula(value=value)))
        return CallFormula(function="not", of=(read,)) if negated else read

    def _read_first(self) -> Formula:
        token = self._next()
        if token.kind == "mark":
            return self._read_signed(token.text)
        match token:
            case ("number", text):
                return _read_number(text)
            case ("variable", name):
                return VariableFormula(name=name)
            case ("word", "not"):
                return CallFormula(function="not", of=(self.read(_NOT - 1),))
            case ("word", "case"):
                return self._read_case()
            case ("word", word) if word in _CONSTANTS:
                return ConstantFormula(value=_CONSTANTS[word])
            case ("word", word) if word not in _KEYWORDS:
                return self._read_call(word)
        raise _misplaced(token.text)

    def _read_signed(self, mark: str) -> Formula:
        match mark:
            case "(":
                read = self.read(0)
                self._require(")")
                return read
            case "+":
                return self.read(_SIGN - 1)
            case "-" if self.peek() == _Token("number", str(_HIGHEST + 1)):
                self._at += 1
                return ConstantFormula(value=-_HIGHEST - 1)
            case "-":
                zero = ConstantFormula(value=0)
                return CallFormula(function="subtract", of=(zero, self.read(_SIGN - 1)))
            case "~":
                ones = ConstantFormula(value=-1)
                return CallFormula(function="bit_xor", of=(ones, self.read(_BITS)))
        raise _misplaced(mark)

    def _read_case(self) -> Formula:
        parts: list[Formula] = []
        while self._skip("when"):
            parts.append(self.read(0))
            self._require("then")
            parts.append(self.read(0))
        if not parts:
            raise build_workload_error("case: `when` is allowed after it")
        parts.append(self.read(0) if self._skip("else") else ConstantFormula(value=None))
        self._require("end")
        return CallFormula(function="case", of=tuple(parts))

    def _read_call(self, name: str) -> Formula:
        self._require("(")
        of: list[Formula] = []
        while not self._skip(")"):
            if of:
                self._require(",")
            of.append(self.read(0))
        if name == "debug" and len(of) == 1:
            return of[0]
        if name not in _FUNCTIONS:
            raise build_workload_error(
                f"debug takes 1 value, not {len(of)}"
                if name == "debug"
                else f"{name} is no function of pgbench"
            )
        function, counts = _FUNCTIONS[name]
        if len(of) not in counts:
            wanted = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            raise build_workload_error(f"{name} takes {wanted} values, not {len(of)}")
        if len(of) < _SEEDED.get(function, 0):
            of.append(VariableFormula(name=SEED))
        return CallFormula(function=function, of=tuple(of))

    def _next(self) -> _Token:
        token = self.peek()
        self._at += 1
        return token

    def _skip(self, text: str) -> bool:
        found = self.peek().text == text and self.peek().kind in {"word", "mark"}
        self._at += found
        return found

    def _require(self, text: str) -> None:
        if not self._skip(text):
            raise build_workload_error(
                f"has {self.peek().text or 'its end'!r} where {text} should be"
            )


def _misplaced(text: str) -> WorkloadError:
    return build_workload_error(f"has {text or 'its end'!r} where a value should be")


def _read_number(text: str) -> Formula:
    if text.isdigit():
        if int(text) > _HIGHEST:
            raise build_workload_error(f"{text} is out of range: whole numbers go up to {_HIGHEST}")
        return ConstantFormula(value=int(text))
    value = float(text)
    if value == float("inf"):
        raise build_workload_error(f"{text} is out of range of a double")
    return ConstantFormula(value=value)

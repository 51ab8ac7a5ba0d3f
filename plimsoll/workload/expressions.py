"""Expressions over whole numbers: `row / 3000 % 10 + 1`, `c_credit = 'BC' and not remote`.

From the loosest to the tightest: `or`; `and`; `not`; `=`, `<>`, `<`, `<=`, `>`, `>=`, `is null`,
`is not null`; `+`, `-`; `*`, `/`, `%`; and a sign. A condition is 1 or 0. Division rounds down, by
zero it gives 0, and a null counts as 0. A text is only compared, with `=` and `<>`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.expressions import (
    CallExpression,
    Expression,
    Function,
    NumberExpression,
    RowExpression,
    TextExpression,
    VariableExpression,
)
from plimsoll.workload.declared import build_workload_error

LONGEST = 1_000  # characters
DEEPEST = 40  # parentheses and signs within each other

# The number of values that each function takes.
FUNCTIONS: dict[Function, int] = {"if": 3, "random": 2, "hash": 1, "bit": 2, "bits": 2}
_SUMS: dict[str, Function] = {"+": "add", "-": "subtract"}
_PRODUCTS: dict[str, Function] = {"*": "multiply", "/": "divide", "%": "remainder"}
# The function of a comparison, and whether its sides change places.
_COMPARISONS: dict[str, tuple[Function, bool]] = {
    "=": ("equal", False),
    "<>": ("different", False),
    "<": ("less", False),
    "<=": ("at_most", False),
    ">": ("less", True),
    ">=": ("at_most", True),
}
_WORDS = {"and", "or", "not", "is", "null"}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,18})(?!\w)|(?P<word>[A-Za-z_]\w*)|'(?P<text>[^']*)'"
    r"|(?P<mark><>|<=|>=|[-+*/%=<>(),]))"
)


class _Token(NamedTuple):
    kind: str | None
    text: str


def read_expression(text: object, numbers: Mapping[str, bool], *, row: bool) -> Expression:
    """Read an expression.

    Args:
        text: The expression.
        numbers: Whether each known variable is a whole number, by name.
        row: Whether `row` is the number of the row being created.

    Raises:
        WorkloadError: It is no expression, or refers to an unknown name.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return NumberExpression(value=text)
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise build_workload_error(f"must be an expression of up to {LONGEST} characters")
    reader = _Reader(_tokenize(text), numbers, row=row)
    expression = reader.read_either()
    if reader.peek().text:
        raise build_workload_error(f"has {reader.peek().text!r} after its end")
    return _require_number(expression, numbers)


def _tokenize(text: str) -> list[_Token]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise build_workload_error(f"cannot be read from {text[at:].strip()[:20]!r} on")
        kind = found.lastgroup
        assert kind is not None  # noqa: S101 - each alternative of the pattern has a name
        tokens.append(_Token(kind, found[kind]))
        at = found.end()
    return tokens


def _require_number(expression: Expression, numbers: Mapping[str, bool]) -> Expression:
    if _is_text(expression, numbers):
        raise build_workload_error("compares a text with = or <> alone, and computes with none")
    return expression


def _is_text(expression: Expression, numbers: Mapping[str, bool]) -> bool:
    match expression:
        case TextExpression():
            return True
        case VariableExpression(name=name):
            return not numbers[name]
        case _:
            return False


class _Reader:
    """Reads an expression once, from left to right."""

    def __init__(self, tokens: list[_Token], numbers: Mapping[str, bool], *, row: bool) -> None:
        self._tokens = tokens
        self._at = 0
        self._numbers = numbers
        self._row = row
        self._depth = 0

    def peek(self) -> _Token:
        """Return the next token without moving."""
        return self._tokens[self._at] if self._at < len(self._tokens) else _Token(None, "")

    def read_either(self) -> Expression:
        """Read alternatives, the loosest kind of expression."""
        read = self._read_both()
        while self._skip_word("or"):
            read = self._call("or", read, self._read_both())
        return read

    def _read_both(self) -> Expression:
        read = self._read_negation()
        while self._skip_word("and"):
            read = self._call("and", read, self._read_negation())
        return read

    def _read_negation(self) -> Expression:
        if not self._skip_word("not"):
            return self._read_comparison()
        self._deepen()
        read = self._call("not", self._read_negation())
        self._depth -= 1
        return read

    def _read_comparison(self) -> Expression:
        read = self._read_sum()
        if self._skip_word("is"):
            negated = self._skip_word("not")
            if not self._skip_word("null") or not isinstance(read, VariableExpression):
                raise build_workload_error("`is` stands between a variable and null")
            is_null = CallExpression(function="is_null", of=(read,))
            return self._call("not", is_null) if negated else is_null
        mark = self.peek()
        if mark.kind != "mark" or mark.text not in _COMPARISONS:
            return read
        self._at += 1
        return self._compare(mark.text, read, self._read_sum())

    def _compare(self, mark: str, left: Expression, right: Expression) -> Expression:
        function, swapped = _COMPARISONS[mark]
        texts = _is_text(left, self._numbers), _is_text(right, self._numbers)
        if not any(texts):
            return self._call(function, *((right, left) if swapped else (left, right)))
        if not all(texts) or mark not in {"=", "<>"}:
            raise build_workload_error("compares a text with a text alone, with = or <>")
        if isinstance(left, TextExpression):
            left, right = right, left
        if not isinstance(left, VariableExpression) or not isinstance(right, TextExpression):
            raise build_workload_error("compares a variable with a text in quotes")
        equal = CallExpression(function="equal", of=(left, right))
        return equal if mark == "=" else self._call("not", equal)

    def _read_sum(self) -> Expression:
        read = self._read_product()
        while (mark := self.peek()).kind == "mark" and mark.text in _SUMS:
            self._at += 1
            read = self._call(_SUMS[mark.text], read, self._read_product())
        return read

    def _read_product(self) -> Expression:
        read = self._read_signed()
        while (mark := self.peek()).kind == "mark" and mark.text in _PRODUCTS:
            self._at += 1
            read = self._call(_PRODUCTS[mark.text], read, self._read_signed())
        return read

    def _read_signed(self) -> Expression:
        if not self._skip_mark("-"):
            return self._read_single()
        self._deepen()
        read = self._call("subtract", NumberExpression(value=0), self._read_signed())
        self._depth -= 1
        return read

    def _read_single(self) -> Expression:
        token = self.peek()
        self._at += 1
        match token.kind:
            case "number":
                return NumberExpression(value=int(token.text))
            case "text":
                return TextExpression(value=token.text)
            case "mark" if token.text == "(":
                self._deepen()
                read = self.read_either()
                self._require_mark(")")
                self._depth -= 1
                return read
            case "word" if self.peek() == _Token("mark", "("):
                return self._read_call(token.text)
            case "word" if token.text not in _WORDS:
                return self._read_name(token.text)
        raise build_workload_error(f"has {token.text or 'its end'!r} where a value should be")

    def _read_name(self, name: str) -> Expression:
        if name == "row" and self._row:
            return RowExpression()
        if name not in self._numbers:
            known = [*self._numbers, *(["row"] if self._row else [])]
            raise WorkloadError(complain_of_unknown("variable", name, known, value=name))
        return VariableExpression(name=name)

    def _read_call(self, name: str) -> Expression:
        function = next((known for known in FUNCTIONS if known == name), None)
        if function is None:
            raise WorkloadError(complain_of_unknown("function", name, FUNCTIONS, value=name))
        self._require_mark("(")
        self._deepen()
        of = [self.read_either()]
        while self._skip_mark(","):
            of.append(self.read_either())
        self._require_mark(")")
        self._depth -= 1
        if len(of) != FUNCTIONS[function]:
            raise build_workload_error(f"{name} takes {FUNCTIONS[function]} values, not {len(of)}")
        return self._call(function, *of)

    def _call(self, function: Function, *of: Expression) -> CallExpression:
        for part in of:
            _require_number(part, self._numbers)
        return CallExpression(function=function, of=of)

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise build_workload_error(f"has more than {DEEPEST} parts within each other")

    def _skip_word(self, word: str) -> bool:
        return self._skip(_Token("word", word))

    def _skip_mark(self, mark: str) -> bool:
        return self._skip(_Token("mark", mark))

    def _skip(self, token: _Token) -> bool:
        found = self.peek() == token
        self._at += found
        return found

    def _require_mark(self, mark: str) -> None:
        if not self._skip_mark(mark):
            raise build_workload_error(
                f"has {self.peek().text or 'its end'!r} where {mark} should be"
            )

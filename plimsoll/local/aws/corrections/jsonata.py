"""JSONata, whose engine moto leaves out: `jsonata-python` in its place.

https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html: expressions see
`$states` and the variables assigned so far; an expression that gives nothing fails the state with
`States.QueryEvaluationError`. So does, here, a variable that nobody assigned wherever it stands in
an expression: JSONata alone would drop it in silence.
"""

import hashlib
import json
import random
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from jsonata import Jsonata
from jsonata.jexception import JException
from jsonata.utils import Utils
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import (
    StatesErrorNameType,
)
from moto.stepfunctions.parser.asl.component.common.string.string_expression import StringJSONata

from plimsoll.local.aws.corrections.failures import failure
from plimsoll.local.replacing import replace_members

# No expression of a state machine needs more.
_TIMEOUT_MS = 60_000
_MAX_DEPTH = 500


class QueryError(Exception):
    """An expression cannot be evaluated; the message says why."""


def evaluate(expression: str, variables: Mapping[str, Any]) -> Any:
    """Evaluate a JSONata expression.

    Args:
        expression: Without the `{% %}`.
        variables: Values by name, without the `$`.

    Returns:
        A JSON value.

    Raises:
        QueryError: It has a fault, gives nothing, or names a variable that is not there.
    """
    try:
        program = Jsonata(expression, timeout=_TIMEOUT_MS, stack=_MAX_DEPTH)
        program.set_output_convert_nulls(False)
        frame = _StrictFrame(program.environment)
        for name, function in _FUNCTIONS.items():
            frame.bind(name, Jsonata.JLambda(function))
        for name, value in variables.items():
            frame.bind(name, Utils.NULL_VALUE if value is None else value)
        program.environment = frame
        result = program.evaluate(None)
    except JException as error:
        raise QueryError(f"The JSONata expression '{expression}' failed: {error}") from None
    if result is None:
        raise QueryError(f"The JSONata expression '{expression}' returned nothing (undefined).")
    return _plain_value(result, expression)


class _StrictFrame(Jsonata.Frame):  # type: ignore[misc]  # jsonata-python carries no types
    """The outermost variables; `None` for a name that nobody gave is an error."""

    def lookup(self, name: str) -> Any:
        value = super().lookup(name)
        given = name in self.bindings or name in Jsonata.static_frame.bindings
        if name == "eval" or (value is None and not given and not name.startswith("__")):
            raise QueryError(f"The variable or function ${name} is not defined.")
        return value


def _plain_value(value: Any, expression: str) -> Any:
    """Turn jsonata-python's own lists and nulls into plain ones."""
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, dict):
        return {key: _plain_value(member, expression) for key, member in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain_value(member, expression) for member in value]
    if isinstance(value, str | bool | int | float):
        return value
    try:
        return [
            _plain_value(member, expression) for member in value
        ]  # jsonata-python's lazy ranges
    except TypeError:
        message = f"The JSONata expression '{expression}' returned an unsupported result type."
        raise QueryError(message) from None


# The functions that Step Functions adds:
# https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html#jsonata-functions
def _partition(array: list[Any], size: int) -> list[list[Any]]:
    return [array[start : start + size] for start in range(0, len(array), size)]


def _compute_range(first: int, last: int, step: int) -> list[int]:
    return list(range(first, last + (1 if step > 0 else -1), step))


def _hash(value: str, algorithm: str) -> str:
    return hashlib.new(algorithm.replace("-", "").lower(), value.encode()).hexdigest()


def _random(seed: float | None = None) -> float:
    return random.Random(seed).random()  # noqa: S311 - JSONata's own is no cryptography either


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "partition": _partition,
    "range": _compute_range,
    "hash": _hash,
    "random": _random,
    "uuid": lambda: str(uuid.uuid4()),
    "parse": json.loads,
}


def _eval_body(self: StringJSONata, env: Any) -> None:
    scope = env.variable_store
    variables = {
        **scope._outer_scope,  # noqa: SLF001 - the store gives them as program text only
        **scope._inner_scope,  # noqa: SLF001
        "states": {k: v for k, v in env.states._states_data.items() if _is_visible(k, v)},  # noqa: SLF001
    }
    try:
        env.stack.append(evaluate(self.expression.strip(), variables))
    except QueryError as error:
        raise failure(
            env,
            StatesErrorNameType.StatesQueryEvaluationError,
            str(error),
            event=HistoryEventType.EvaluationFailed,
            details="evaluationFailedEventDetails",
        ) from None


def _is_visible(name: str, value: object) -> bool:
    """Hide `result` and `errorOutput` where a state has none; moto sets them to None."""
    return value is not None or name not in {"result", "errorOutput"}


def apply() -> None:
    """Plug the engine in."""
    replace_members(StringJSONata, _eval_body=_eval_body)

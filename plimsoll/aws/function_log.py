"""One line of JSON for each call of a function: what it was for, how long it took, how it ended.

The load client's package holds the standard library's `logging` and no other logger. The API logs
the same fields with Powertools. A line has ids and names alone, never a value of a request, an
address or the text of an error, so no secret can be in it.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")
Handler = Callable[[dict[str, Any], Any], Answer]

# Fields of an event that are logged, if they are text or whole numbers
FIELDS = ("run_id", "experiment_id", "step", "client", "part", "cell", "dataset", "team", "name")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LONGEST = 200  # characters of a value
_cold = [True]  # whether this environment has had no call yet


def is_logged(level: str) -> bool:
    """Return whether lines of a level are written: `LOG_LEVEL` names the lowest that are."""
    lowest = os.environ.get("LOG_LEVEL", "INFO")
    return LEVELS.index(level) >= LEVELS.index(lowest if lowest in LEVELS else "INFO")


def log_line(level: str, message: str, **fields: object) -> None:
    """Write a line of JSON to standard output, if its level is logged."""
    if is_logged(level):
        service = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "plimsoll")
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"level": level, "message": message, "timestamp": at, "service": service, **fields}
        print(json.dumps(line), file=sys.stdout, flush=True)


def take_cold_start() -> bool:
    """Return whether this is the first call of the environment, and note that it was."""
    first, _cold[0] = _cold[0], False
    return first


def find_fields(event: Mapping[str, Any]) -> dict[str, object]:
    """Return what a line says of an event: `FIELDS`, and the run or experiment as correlation.

    The id of a run in an experiment begins with that of the experiment.
    """
    detail = event.get("detail")
    told = {**event, **detail} if isinstance(detail, Mapping) else event
    fields: dict[str, object] = {}
    for name in FIELDS:
        match told.get(name):
            case int() as value:
                fields[name] = value
            case str() as value:
                fields[name] = value[:_LONGEST]
    correlation = fields.get("run_id") or fields.get("experiment_id")
    return {"correlation_id": correlation, **fields} if correlation else fields


def log_calls(handler: "Handler[Answer]") -> "Handler[Answer]":
    """Return a handler that writes a line when a call of it has ended."""

    @wraps(handler)
    def run_logged(event: dict[str, Any], context: Any) -> Answer:
        began = time.monotonic()
        fields = {
            **find_fields(event),
            "function_request_id": getattr(context, "aws_request_id", None),
            "cold_start": take_cold_start(),
        }
        log_line("DEBUG", "began", **fields)
        try:
            answer = handler(event, context)
        except BaseException as error:
            failure = type(error).__name__
            log_line(
                "ERROR", "failed", **fields, error=failure, duration_ms=_measure_elapsed_ms(began)
            )
            raise
        log_line("INFO", "ended", **fields, duration_ms=_measure_elapsed_ms(began))
        return answer

    return run_logged


def _measure_elapsed_ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)

"""Refuses bodies that are too large, too deep, or not JSON, before they are parsed."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from plimsoll.api.problems import ApiError
from plimsoll.documents import is_deeper

BODY_MOST_BYTES = 262_144  # the longest workload fits; far below Lambda's limit
DEPTH_MOST = 40  # levels of lists and mappings; the deepest request has about half


def check_body(event: Mapping[str, Any]) -> None:
    """Check the body of an event as text.

    Raises:
        ApiError: 413, 415 or 400.
    """
    body = event.get("body") or ""
    encoded = event.get("isBase64Encoded") is True
    size = len(body) * 3 // 4 if encoded else len(body.encode(errors="surrogatepass"))
    if size > BODY_MOST_BYTES:
        raise ApiError(413, "too-large", f"a body has at most {BODY_MOST_BYTES} bytes, not {size}")
    if not body:
        return
    kind = _read_content_type(event)
    if kind and kind.partition(";")[0].strip().lower() != "application/json":
        raise ApiError(415, "not-json", f"a body is application/json, not {kind}")
    if not encoded:
        check_depth(body)


def check_depth(text: str) -> None:
    """Refuse JSON that is nested deeper than any request, without parsing it.

    Raises:
        ApiError: 400.
    """
    if is_deeper(text, DEPTH_MOST):
        raise ApiError(400, "not-json", f"the body is nested deeper than {DEPTH_MOST} levels")


def read_json(text: str) -> Any:
    """Parse a body, refusing repeated names, non-finite numbers and invalid text.

    Raises:
        ApiError: 400.
    """
    check_depth(text)  # repeated, since the body may have been base64
    try:
        value = json.loads(
            text,
            object_pairs_hook=_refuse_repeated,
            parse_float=_parse_finite,
            parse_constant=_refuse_constant,
        )
        json.dumps(value, ensure_ascii=False).encode()  # refuses lone surrogates
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ApiError(400, "not-json", f"the body is not JSON: {error.msg} ({place})") from None
    except UnicodeEncodeError:
        raise ApiError(400, "not-json", "the body is not JSON: half a character") from None
    except ValueError:  # a number with thousands of digits
        raise ApiError(400, "not-json", "the body is not JSON: a number is too long") from None
    return value


def _refuse_repeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ApiError(400, "not-json", f"the body is not JSON: {name[:100]!r} is given twice")
        fields[name] = value
    return fields


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        problem = f"the body is not JSON: {text[:20]} is beyond every number"
        raise ApiError(400, "not-json", problem)
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ApiError(400, "not-json", f"the body is not JSON: {name} is not a number")


def _read_content_type(event: Mapping[str, Any]) -> str | None:
    headers = event.get("headers") or {}
    return next((v for name, v in headers.items() if name.lower() == "content-type"), None)

"""API Gateway's REST API with a Lambda proxy integration, as data: no sockets here.

https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
"""

import base64
import binascii
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from plimsoll.local.account import ACCOUNT

# https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
MAX_BODY_BYTES = 10 * 2**20
_ARN = re.compile(r"^arn:aws[a-z-]*:(iam|sts)::(\d{12}):")


@dataclass(frozen=True)
class HttpAnswer:
    """An HTTP response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def build_refusal(status: int, message: str) -> HttpAnswer:
    """Answer as API Gateway does for itself."""
    body = json.dumps({"message": message}).encode()
    return HttpAnswer(status, (("Content-Type", "application/json"),), body)


# An answer of API Gateway from 2021-09-12: https://github.com/koki-develop/lgtm-generator/issues/10
TOO_LONG = HttpAnswer(
    413,
    (("Content-Type", "text; charset=utf-8"),),
    f"HTTP content length exceeded {MAX_BODY_BYTES} bytes.".encode(),
)
TOO_LONG_FOR_FUNCTION = build_refusal(413, "Request Too Long")  # an event has at most 6 MiB
TIMED_OUT = build_refusal(504, "Endpoint request timed out")
BROKEN = build_refusal(
    502, "Internal server error"
)  # the function failed, or returned no valid response


def build_proxy_event(
    *,
    method: str,
    path: str,
    query: str,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    principal: str,
    source_ip: str,
    now: datetime,
) -> dict[str, Any]:
    """Build a Lambda proxy integration's event (format 1.0) from an HTTP request.

    Args:
        method: The method, in capitals.
        path: The path as it was sent, percent-encoded.
        query: The text after the `?`, as it was sent.
        headers: The headers in order; a name may come more than once.
        body: The body, at most `MAX_BODY_BYTES`.
        principal: The ARN of the caller.
        source_ip: The caller's address.
        now: The time of the request, in UTC.
    """
    many = _collect_values(headers)
    asked = _collect_values(parse_qsl(query, keep_blank_values=True))
    account = _ARN.match(principal)
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": _take_last_values(many),
        "multiValueHeaders": many or None,
        "queryStringParameters": _take_last_values(asked),
        "multiValueQueryStringParameters": asked or None,
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "local",
            "resourceId": "local",
            "resourcePath": "/{proxy+}",
            "httpMethod": method,
            "path": path,
            "stage": "local",
            "protocol": "HTTP/1.1",
            "requestId": str(uuid.uuid4()),
            "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "requestTimeEpoch": int(now.timestamp() * 1000),
            "identity": {
                "accountId": account[2] if account else None,
                "userArn": principal,
                "caller": principal.rpartition("/")[2],
                "sourceIp": source_ip,
                "userAgent": _take_last_values(many).get("User-Agent") if many else None,
            },
        },
        "body": body.decode("utf-8", errors="replace") if body else None,
        "isBase64Encoded": False,  # no binary media types are configured
    }


def _collect_values(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    collected: dict[str, list[str]] = {}
    for name, value in pairs:
        collected.setdefault(name, []).append(value)
    return collected


def _take_last_values(many: Mapping[str, list[str]]) -> Any:
    """Return the last value of each name; None if there are no names."""
    return {name: values[-1] for name, values in many.items()} or None


def read_proxy_answer(payload: bytes) -> HttpAnswer:
    """Convert a function's return value into a response; 502 if it is invalid."""
    try:
        answer = json.loads(payload)
        status = int(answer["statusCode"])
        text = answer.get("body") or ""
        body = base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()
        headers = _collect_values((answer.get("headers") or {}).items())
        headers |= answer.get("multiValueHeaders") or {}
        pairs = tuple((name, str(value)) for name, all_ in headers.items() for value in all_)
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return BROKEN
    return HttpAnswer(status, pairs, body) if 100 <= status <= 599 else BROKEN

"""Stands where the API's function does: it answers as its path says, and else with its event."""

import base64
import json
import time
from typing import Any


def handler(event: dict[str, Any], _context: Any) -> Any:
    answers: dict[str, Any] = {
        "/none": None,
        "/no-status": {"body": "x"},
        "/binary": {
            "statusCode": 200,
            "headers": {"Content-Type": "image/png"},
            "body": base64.b64encode(b"\x89PNG").decode(),
            "isBase64Encoded": True,
        },
        "/cookies": {
            "statusCode": 204,
            "headers": {"X-One": "1"},
            "multiValueHeaders": {"Set-Cookie": ["a=1", "b=2"]},
        },
    }
    if event["path"] == "/raise":
        raise ValueError("on purpose")
    if event["path"] == "/sleep":
        time.sleep(60)
    if event["path"] in answers:
        return answers[event["path"]]
    body = json.dumps(event)
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": body}

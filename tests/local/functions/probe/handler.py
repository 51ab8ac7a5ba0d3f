"""A function that does what its event says."""

import os
import time
from pathlib import Path
from typing import Any

import boto3

COLD_STARTS = [0]


def handler(event: dict[str, Any], context: Any) -> Any:
    COLD_STARTS[0] += 1
    for key, word in (("touch", f"{os.getpid()}"), ("note", "begin")):
        if key in event:
            note(event[key], word)
    pass_time(event)
    if "note" in event:
        note(event["note"], "end")
    if "exit" in event:
        os._exit(event["exit"])
    if "raise" in event:
        raise ValueError(event["raise"])
    if "service" in event:
        made = boto3.client(event["service"])
        return {"endpoint": made.meta.endpoint_url, "region": made.meta.region_name}
    if "bytes" in event:
        return "x" * event["bytes"]
    return {
        "pid": os.getpid(),
        "invocation": COLD_STARTS[0],
        "request_id": context.aws_request_id,
        "remaining_ms": context.get_remaining_time_in_millis(),
        "variable": os.environ.get("POLL_SECONDS"),
        "endpoint": os.environ.get("AWS_ENDPOINT_URL"),
        "event": event,
    }


def pass_time(event: dict[str, Any]) -> None:
    if "meet" in event:  # until so many are here at once
        note(event["meet"], "here")
        while len(Path(event["meet"]).read_text().splitlines()) < event["of"]:
            time.sleep(0.01)
    if "await" in event:
        while not Path(event["await"]).exists():
            time.sleep(0.01)
    if "sleep_s" in event:
        time.sleep(event["sleep_s"])


def note(place: str, word: str) -> None:
    with Path(place).open("a") as file:
        file.write(f"{word}\n")

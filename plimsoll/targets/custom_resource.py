"""CloudFormation's protocol for custom resources: always send one answer to the given URL.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
"""

import json
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from plimsoll.errors import PlimsollError

REASON_LENGTH = 1000  # limits the whole answer to 4,096 bytes


@contextmanager
def answer_event(event: Mapping[str, Any], physical_id: str | None = None) -> Iterator[None]:
    """Send SUCCESS when the block ends, or FAILED with the reason when it raises.

    Exceptions are not passed on: CloudFormation has its answer, and a retry would only repeat it.

    Args:
        event: CloudFormation's event.
        physical_id: The resource's id. If it is another than before, CloudFormation deletes the
            former one once the rest of the stack is updated. None for a resource that never
            changes.
    """
    physical_id = physical_id or event.get("PhysicalResourceId") or event["LogicalResourceId"]
    try:
        yield
    except PlimsollError as error:
        _send_answer(event, physical_id, "FAILED", str(error))
    except Exception as error:  # noqa: BLE001 - without an answer CloudFormation waits an hour
        _send_answer(event, physical_id, "FAILED", f"{type(error).__name__}: {error}")
    else:
        _send_answer(event, physical_id, "SUCCESS", "")


def _send_answer(event: Mapping[str, Any], physical_id: str, status: str, reason: str) -> None:
    body = json.dumps(
        {
            "Status": status,
            "Reason": reason[:REASON_LENGTH],
            "PhysicalResourceId": physical_id,
            "StackId": event["StackId"],
            "RequestId": event["RequestId"],
            "LogicalResourceId": event["LogicalResourceId"],
        }
    ).encode()
    request = urllib.request.Request(  # noqa: S310 - an https URL that CloudFormation signed
        event["ResponseURL"], data=body, method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request, timeout=20):  # noqa: S310 - the same URL
        pass

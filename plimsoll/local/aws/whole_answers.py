"""Answers of the stand-in for AWS that are whole: botocore takes one that was cut off for empty.

A stand-in that is killed as it answers leaves a beginning: a status, perhaps headers, no body. Read
as a run's record, that says "there is no run".
"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ConnectionClosedError
from botocore.model import OperationModel

_WITHOUT_BODY = frozenset({204, 304})  # RFC 9110, 15.3.5 and 15.4.5


def require_whole_answers(client: Any) -> None:
    """Let a client's calls fail whose answer was cut off, as if the connection had been closed.

    Those whose body is a stream are left to it, which counts for itself.
    """

    def require(
        operation_model: OperationModel, response_dict: Mapping[str, Any], **_: object
    ) -> None:
        if operation_model.has_streaming_output or operation_model.http["method"] == "HEAD":
            return
        if not _is_whole(response_dict):
            raise ConnectionClosedError(endpoint_url=client.meta.endpoint_url)

    client.meta.events.register("before-parse", require)


def _is_whole(answer: Mapping[str, Any]) -> bool:
    headers, body = answer["headers"], answer["body"]
    if answer["status_code"] in _WITHOUT_BODY or "transfer-encoding" in headers:
        return True  # urllib3 sees where a chunk is missing
    length: str | None = headers.get("content-length")
    return length == str(len(body))

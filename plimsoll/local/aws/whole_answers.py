"""Makes truncated answers of the stand-in for AWS fail: botocore takes them for empty ones.

If the stand-in is killed while it answers, a client receives a status, perhaps headers, and no
body. Read as a run's record, that would mean "there is no run".
"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ConnectionClosedError
from botocore.model import OperationModel

_WITHOUT_BODY = frozenset({204, 304})  # RFC 9110, 15.3.5 and 15.4.5


def require_whole_answers(client: Any) -> None:
    """Let a client's calls with a truncated answer fail, as if the connection had been closed.

    Streamed bodies are excluded: the stream itself counts its bytes.
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
        return True  # urllib3 notices a missing chunk
    length: str | None = headers.get("content-length")
    return length == str(len(body))

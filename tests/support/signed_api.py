"""An API that answers signed calls alone, as API Gateway does: by the bytes that came."""

import hmac
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from plimsoll.client.address import Address
from plimsoll.local.rest_api import HttpAnswer, build_refusal

KEY, SECRET, REGION, STAGE = "AKIDEXAMPLE", "not told", "eu-west-1", "/v1"
_PARTS = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})"
)


class Answers(Protocol):
    """What answers a call that is signed."""

    def answer(self, request: Request, path: str) -> HttpAnswer: ...


def is_signed(request: Request) -> bool:
    """Whether what came, path, query, headers and body, is what KEY has signed."""
    found = _PARTS.fullmatch(request.headers.get("Authorization", ""))
    if found is None or not found[1].startswith(f"{KEY}/"):
        return False
    names = found[2].split(";")
    query = request.query_string.decode("latin-1")
    raw = str(request.environ["RAW_URI"]).partition("?")[0]
    url = f"http://{request.host}{raw}" + (f"?{query}" if query else "")
    headers = {name: request.headers[name] for name in names}
    again = AWSRequest(request.method, url, headers, request.get_data())
    again.context["timestamp"] = request.headers["X-Amz-Date"]
    signer = SigV4Auth(Credentials(KEY, SECRET), "execute-api", REGION)
    canonical = signer.canonical_request(again)
    signature: str = signer.signature(signer.string_to_sign(again, canonical), again)
    return hmac.compare_digest(signature, found[3])


@contextmanager
def signed_api(behind: Answers) -> Iterator[Address]:
    """Serve it on this machine; gives its address, to which calls are signed."""

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        request = Request(environ)
        path = str(environ["RAW_URI"]).partition("?")[0].removeprefix(STAGE)
        if is_signed(request):
            answer = behind.answer(request, path)
        else:
            answer = build_refusal(403, "The request signature does not match")
        response = Response(answer.body, answer.status, list(answer.headers))
        return response(environ, start_response)

    server = make_server("127.0.0.1", 0, application, threaded=True)
    serving = threading.Thread(target=server.serve_forever, args=(0.05,))
    serving.start()
    try:
        yield Address(f"http://127.0.0.1:{server.port}{STAGE}", REGION, signed=True)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()

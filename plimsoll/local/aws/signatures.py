"""Lets only callers who sign with the twin's keys (SigV4) use its APIs, as on AWS.

The signature of a request is computed again by botocore's own signer, and compared. In a header:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html; in a
link to an object: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html.
"""

import hmac
import io
import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from werkzeug.datastructures import EnvironHeaders

from plimsoll.local.account import Keys
from plimsoll.local.callers import is_from_page

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_HEADER = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<credential>[^, ]+), ?"
    r"SignedHeaders=(?P<signed>[^, ]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_QUERY = re.compile(r"&?X-Amz-Signature=(?P<signature>[0-9a-f]{64})")
_TIMESTAMP = "%Y%m%dT%H%M%SZ"


class SignedCalls:
    """A WSGI middleware that forwards only requests signed with the twin's keys."""

    def __init__(self, application: Application, keys: Keys, port: int) -> None:
        """Wrap an application.

        Args:
            application: The application that answers valid requests.
            keys: The twin's keys.
            port: The port that it listens on, on 127.0.0.1.
        """
        self._application = application
        self._credentials = Credentials(keys.aws_access_key_id, keys.aws_secret_access_key)
        self._port = port

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request, or refuse it."""
        headers = EnvironHeaders(environ)
        host, origin = headers.get("Host"), headers.get("Origin")
        if not is_from_page(host=host, origin=origin, port=self._port) and (
            self._is_signed(environ, headers) or self._is_signed_link(environ, headers)
        ):
            return self._application(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "application/json")])
        return [json.dumps({"message": "not signed with this stand-in's own keys"}).encode()]

    def _is_signed(self, environ: dict[str, Any], headers: EnvironHeaders) -> bool:
        found = _HEADER.fullmatch(headers.get("Authorization", ""))
        scope = self._scope(found["credential"]) if found else None
        if found is None or scope is None or "X-Amz-Date" not in headers:
            return False
        region, service = scope
        body = b""  # S3's signatures cover the body's digest, which is a header
        if service != "s3":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
        kind = S3SigV4Auth if service == "s3" else SigV4Auth
        signer = kind(self._credentials, service, region)
        request = _rebuild_request(environ, headers, found["signed"], body)
        return _is_same_signature(signer, request, headers["X-Amz-Date"], found["signature"])

    def _is_signed_link(self, environ: dict[str, Any], headers: EnvironHeaders) -> bool:
        given = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
        found = _QUERY.search(environ["QUERY_STRING"])
        scope = self._scope(given.get("X-Amz-Credential", ""))
        try:
            made_at = datetime.strptime(given["X-Amz-Date"], _TIMESTAMP).replace(tzinfo=UTC)
            expires = made_at + timedelta(seconds=int(given["X-Amz-Expires"]))
            signed = given["X-Amz-SignedHeaders"]
        except (KeyError, ValueError, OverflowError):
            return False
        if found is None or scope is None or datetime.now(UTC) > expires:
            return False
        region, service = scope
        signer = S3SigV4QueryAuth(self._credentials, service, region)
        request = _rebuild_request(environ, headers, signed, b"")
        request.url = _QUERY.sub("", str(request.url))
        return _is_same_signature(signer, request, given["X-Amz-Date"], found["signature"])

    def _scope(self, credential: str) -> tuple[str, str] | None:
        """Return the region and the service of a credential; None if it is not the twin's."""
        parts = credential.split("/")  # key, date, region, service, aws4_request
        known = len(parts) == 5 and hmac.compare_digest(
            parts[0].encode(), self._credentials.access_key.encode()
        )
        return (parts[2], parts[3]) if known else None


def _rebuild_request(
    environ: dict[str, Any], headers: EnvironHeaders, signed: str, body: bytes
) -> AWSRequest:
    """Return the part of a request that was signed."""
    url = f"http://{headers['Host']}{environ['RAW_URI']}"
    parts = {name: headers[name] for name in signed.split(";") if name in headers}
    return AWSRequest(environ["REQUEST_METHOD"], url, parts, body)


def _is_same_signature(
    signer: SigV4Auth, request: AWSRequest, timestamp: str, signature: str
) -> bool:
    request.context["timestamp"] = timestamp
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    return hmac.compare_digest(signer.signature(to_sign, request), signature)

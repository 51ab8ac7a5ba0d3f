"""HTTP for the service: SigV4, problem documents, and retries only where they are harmless."""

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import botocore.session
import botocore.utils
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session

from plimsoll.client.address import Address
from plimsoll.client.refusals import DRAINING, LIMIT_REACHED, parse_refusal
from plimsoll.client.tokens import find_token
from plimsoll.documents import parse_foreign_json
from plimsoll.errors import PlimsollError

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 35.0  # API Gateway's time-out is 29 s
ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 20.0
_PASSING = frozenset({429, 500, 502, 503, 504})  # another attempt may succeed
_REFUSED_UNREAD = frozenset({429, 503})  # nothing was done, so even a POST may be repeated
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})


@dataclass(frozen=True)
class Reply:
    """A successful response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Parse the body.

        Raises:
            PlimsollError: It is no JSON, so the server is not the service.
        """
        try:
            return parse_foreign_json(self.body)
        except ValueError:
            raise PlimsollError("the answer is not JSON: is this the service's address?") from None


Send = Callable[[AWSPreparedRequest], Any]


class Http:
    """Sends requests to one service. Not thread-safe, except for `pass_on`."""

    def __init__(
        self,
        address: Address,
        *,
        send: Send | None = None,
        sleep: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Find the caller's credentials, or the token of a service on this machine. Sends nothing.

        Args:
            address: The address of the service.
            send: A replacement for the network, for tests.
            sleep: A replacement for the wait between attempts, for tests.
            headers: Headers that every request gets.

        Raises:
            PlimsollError: There are no credentials to sign with.
        """
        self._address = address
        self._sleep = sleep
        self._headers = dict(headers or {})
        token = None if address.signed else find_token(address.url)
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        # botocore's types allow neither a connection time-out nor the absence of proxies
        timeout: Any = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        proxies: Any = botocore.utils.get_environ_proxies(address.url) if address.signed else {}
        self._signer = _make_signer(address) if address.signed else None
        verify: Any = (find_authorities() or True) if address.signed else True
        network = URLLib3Session(verify=verify, timeout=timeout, proxies=proxies)
        self._send: Send = send or network.send

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | None] | None = None,
        body: Any = None,
        key: str | None = None,
        harmless: bool = False,
        deletes: bool = False,
    ) -> Reply:
        """Send a request, and repeat it where that is safe and may help.

        Args:
            method: GET, POST, PUT or DELETE.
            path: The path below the service's address.
            query: The query parameters; those that are None are left out.
            body: The body, sent as JSON; None for none.
            key: The Idempotency-Key header.
            harmless: Whether a POST creates nothing, so that it may be repeated.
            deletes: Whether success leaves nothing under the path. Then a 404 after an attempt
                whose answer was lost means that this attempt succeeded.

        Raises:
            ServiceError: The service refuses; the message has a line for each wrong field.
            PlimsollError: The service is unreachable.
        """
        repeatable = method in _REPEATABLE or key is not None or harmless
        request = self._request(method, path, query, body, key)
        may_be_done = False
        for attempt in range(1, ATTEMPTS + 1):
            again = attempt < ATTEMPTS
            try:
                raw = self._send(self._sign(request))
                reply = Reply(raw.status_code, raw.headers, raw.content)
            except (BotoCoreError, OSError) as error:
                if not (again and (repeatable or _was_never_sent(error))):
                    raise self._unreachable(error, repeatable=repeatable) from error
                may_be_done = may_be_done or not _was_never_sent(error)
                self._pause(attempt, None)
                continue
            if reply.status < 400 or (deletes and may_be_done and reply.status == 404):
                return reply
            refused = parse_refusal(reply.status, reply.body)
            passing = reply.status in (_PASSING if repeatable else _REFUSED_UNREAD)
            if not (again and passing) or refused.kind in {LIMIT_REACHED, DRAINING}:
                raise refused
            may_be_done = may_be_done or reply.status not in _REFUSED_UNREAD
            self._pause(attempt, reply.headers.get("Retry-After"))
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def pass_on(
        self, method: str, path: str, *, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Forward someone else's call once, signed, and return whatever comes back. Thread-safe.

        Args:
            method: The method, in capitals.
            path: The percent-encoded path below the service's address.
            query: The percent-encoded query.
            headers: The headers of the call; signature headers are added.
            body: The body as it is.

        Raises:
            PlimsollError: The service is unreachable.
        """
        asked = parse_qsl(query, keep_blank_values=True)
        suffix = f"?{urlencode(asked, quote_via=quote)}" if asked else ""
        url = self._address.url + path + suffix
        request = AWSRequest(method, url, {**headers, **self._headers}, body)
        try:
            raw = self._send(self._sign(request))
        except (BotoCoreError, OSError) as error:
            raise self._unreachable(error, repeatable=method in _REPEATABLE) from error
        return Reply(raw.status_code, raw.headers, raw.content)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int | None] | None,
        body: Any,
        key: str | None,
    ) -> AWSRequest:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        suffix = f"?{urlencode(given, quote_via=quote)}" if given else ""
        headers = {"Accept": "application/json", **self._headers}
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        return AWSRequest(method, self._address.url + path + suffix, headers, data)

    def _sign(self, request: AWSRequest) -> AWSPreparedRequest:
        if self._signer is not None:
            self._signer.add_auth(request)  # signed again for each attempt: a signature has a time
        return request.prepare()

    def _pause(self, attempt: int, retry_after: str | None) -> None:
        pause_s = _FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1)  # noqa: S311 - no secret
        if retry_after is not None and retry_after.isdecimal():
            pause_s = max(pause_s, min(float(retry_after), _LONGEST_PAUSE_S))
        self._sleep(pause_s)

    def _unreachable(self, error: Exception, *, repeatable: bool) -> PlimsollError:
        sure = repeatable or _was_never_sent(error)
        doubt = "" if sure else "; it may have been accepted: see `plimsoll list`"
        return PlimsollError(f"{self._address.url} cannot be reached: {error}{doubt}")


def find_authorities() -> str | None:
    """Return the file of the certificate authorities to trust; None if they are the usual ones.

    It is found as clients of AWS find it: a proxy that looks into TLS has an authority of its own.
    """
    try:
        named: str | None = botocore.session.get_session().get_config_variable("ca_bundle")
    except BotoCoreError as error:
        raise PlimsollError(f"AWS: {error}") from error
    return named or os.environ.get("REQUESTS_CA_BUNDLE")


def _make_signer(address: Address) -> SigV4Auth:
    session = botocore.session.get_session()
    try:
        credentials = session.get_credentials()
        region = address.region or session.get_config_variable("region")
    except BotoCoreError as error:
        raise PlimsollError(f"AWS: {error}") from error
    if credentials is None:
        raise PlimsollError(
            "no AWS credentials to sign with: set AWS_PROFILE, or as for the AWS command line"
        )
    if region is None:
        raise PlimsollError("no AWS region to sign for: set AWS_REGION")
    return SigV4Auth(credentials, "execute-api", region)


def _was_never_sent(error: Exception) -> bool:
    """Whether no connection was made, so that the request cannot have had an effect."""
    name = type(error).__name__
    return name in {"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError"}

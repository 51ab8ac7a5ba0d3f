"""HTTP as the service wants it: SigV4, problem documents, and no repetition that could do harm."""

import json
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
from plimsoll.client.refusals import LIMIT_REACHED, refusal
from plimsoll.client.tokens import find_token
from plimsoll.errors import PlimsollError

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 35.0  # API Gateway gives up after 29
ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 20.0
_PASSING = frozenset({429, 500, 502, 503, 504})  # another attempt may succeed
_REFUSED_UNREAD = frozenset({429, 503})  # nothing was done: even a POST may be sent again
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})


@dataclass(frozen=True)
class Reply:
    """What came back, if it was a success."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Read its body.

        Raises:
            PlimsollError: It is no JSON: whatever answered is not the service.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise PlimsollError("the answer is no JSON: is this the service's address?") from None


Send = Callable[[AWSPreparedRequest], Any]


class Http:
    """Sends requests to one service. Not thread-safe."""

    def __init__(
        self,
        address: Address,
        *,
        send: Send | None = None,
        sleep: Callable[[float], None] = time.sleep,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Find the caller's credentials, or the token of a service on this machine.

        Nothing is sent yet.

        Args:
            address: Of the service.
            send: Takes the place of the network in tests.
            sleep: Waits between attempts; tests do not wait.
            headers: Sent with every request.

        Raises:
            PlimsollError: There are no credentials to sign with.
        """
        self._address = address
        self._sleep = sleep
        self._headers = dict(headers or {})
        token = None if address.signed else find_token(address.url)
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        # its types know neither a time-out for connecting nor the lack of proxies on this machine
        timeout: Any = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        proxies: Any = botocore.utils.get_environ_proxies(address.url) if address.signed else {}
        self._send: Send = send or URLLib3Session(timeout=timeout, proxies=proxies).send
        self._signer = _signer(address) if address.signed else None

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int | None] | None = None,
        body: Any = None,
        key: str | None = None,
        harmless: bool = False,
    ) -> Reply:
        """Send a request, and again where that is safe and may help.

        Args:
            method: GET, POST, PUT or DELETE.
            path: Under the service's address.
            query: Parameters; those that are None are left out.
            body: Sent as JSON; None: no body.
            key: The Idempotency-Key.
            harmless: A POST that makes nothing.

        Raises:
            ServiceError: The service refuses; one line for each field that is wrong.
            PlimsollError: It cannot be reached.
        """
        repeatable = method in _REPEATABLE or key is not None or harmless
        request = self._request(method, path, query, body, key)
        for attempt in range(1, ATTEMPTS + 1):
            again = attempt < ATTEMPTS
            try:
                raw = self._send(self._prepared(request))
                reply = Reply(raw.status_code, raw.headers, raw.content)
            except (BotoCoreError, OSError) as error:
                if not (again and (repeatable or _never_sent(error))):
                    raise self._unreachable(error, repeatable=repeatable) from error
                self._pause(attempt, None)
                continue
            if reply.status < 400:
                return reply
            refused = refusal(reply.status, reply.body)
            passing = reply.status in (_PASSING if repeatable else _REFUSED_UNREAD)
            if not (again and passing) or refused.kind == LIMIT_REACHED:
                raise refused
            self._pause(attempt, reply.headers.get("Retry-After"))
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def pass_on(
        self, method: str, path: str, *, query: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
        """Send a call of somebody else's once, signed, and give whatever comes back.

        Several threads may do so at once.

        Args:
            method: In capitals.
            path: Under the service's address, percent-encoded.
            query: Percent-encoded.
            headers: Of the call; those of the signature are added.
            body: As it is.

        Raises:
            PlimsollError: The service cannot be reached.
        """
        asked = parse_qsl(query, keep_blank_values=True)
        suffix = f"?{urlencode(asked, quote_via=quote)}" if asked else ""
        url = self._address.url + path + suffix
        request = AWSRequest(method, url, {**headers, **self._headers}, body)
        try:
            raw = self._send(self._prepared(request))
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

    def _prepared(self, request: AWSRequest) -> AWSPreparedRequest:
        if self._signer is not None:
            self._signer.add_auth(request)  # anew for each attempt: a signature carries its time
        return request.prepare()

    def _pause(self, attempt: int, retry_after: str | None) -> None:
        pause_s = _FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1)  # noqa: S311 - no secret
        if retry_after is not None and retry_after.isdecimal():
            pause_s = max(pause_s, min(float(retry_after), _LONGEST_PAUSE_S))
        self._sleep(pause_s)

    def _unreachable(self, error: Exception, *, repeatable: bool) -> PlimsollError:
        sure = repeatable or _never_sent(error)
        doubt = "" if sure else "; it may have been accepted: see `plimsoll list`"
        return PlimsollError(f"{self._address.url} cannot be reached: {error}{doubt}")


def _signer(address: Address) -> SigV4Auth:
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


def _never_sent(error: Exception) -> bool:
    """Whether no connection came about, so that nothing can have happened."""
    name = type(error).__name__
    return name in {"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError"}

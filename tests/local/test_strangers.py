"""Every port that a service on this machine opens, attacked as a page or another user would."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import boto3
import psutil
import pymysql
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from plimsoll.local.account import REGION, Keys
from plimsoll.local.http_front import LocalService
from plimsoll.local.twin import LocalTwin
from tests.local.conftest import PROBE_FUNCTIONS
from tests.local.resources.test_stacks import Stacks

TOKEN = "a token of this test"
PATIENCE_S = 120.0
BUCKET, KEY = "plimsoll-results", "runs/a b/ü.json"

PAGES: dict[str, Callable[[int], dict[str, str]]] = {
    "a script of a page": lambda _: {"Origin": "https://page.example"},
    "a page from a file": lambda _: {"Origin": "null"},
    "a page of another port here": lambda _: {"Origin": "http://127.0.0.1:3000"},
    "a page of the port itself": lambda port: {"Origin": f"http://127.0.0.1:{port}"},
    "a page whose name was moved here": lambda port: {"Host": f"page.example:{port}"},
    "the same, at a usual port": lambda _: {"Host": "page.example"},
    "another port's address": lambda _: {"Host": "127.0.0.1:1"},
}
OWN_PAGE = "a page of the port itself"
SITES = {  # what a browser says of who asks, where it sends no Origin
    "an image of a page": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    "a link of a page": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    "a script of another port here": {"Sec-Fetch-Site": "same-site"},
}


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTwin]:
    base = tmp_path_factory.mktemp("closed")
    (base / "none").mkdir()
    echo = Path(__file__).parent / "functions"
    api = PROBE_FUNCTIONS["api"].model_copy(update={"name": "echo"})
    with LocalTwin(
        base / "aws",
        functions={"echo": api},
        functions_directory=echo,
        state_machines_directory=base / "none",
    ) as running:
        running.client("s3").put_object(Bucket=BUCKET, Key=KEY, Body=b"a result")
        yield running


@pytest.fixture(scope="module")
def service(twin: LocalTwin) -> Iterator[LocalService]:
    with LocalService(twin, token=TOKEN, function="echo") as running:
        yield running


@pytest.fixture(scope="module")
def database(twin: LocalTwin) -> int:
    """The port of a target, which goes with the twin."""
    Stacks(twin).create("attacked")
    return twin.databases["plimsoll-attacked"].port


def aws_port(twin: LocalTwin) -> int:
    port = urlsplit(twin.endpoint_url).port
    assert port is not None
    return port


def listening(twin: LocalTwin) -> set[int]:
    """The ports that a twin's processes listen at; each on the loopback interface alone."""
    assert twin._aws is not None
    server = psutil.Process(twin._aws.pid)
    found = {
        connection.laddr
        for process in (server, *server.children(recursive=True))
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert {address.ip for address in found} == {"127.0.0.1"}
    return {address.port for address in found}


@pytest.fixture(scope="module")
def runtime_port(twin: LocalTwin, database: int) -> int:
    """The Lambda Runtime API's: a twin opens no further one."""
    (port,) = listening(twin) - {aws_port(twin), database}
    return port


def call(
    port: int, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def signed(
    keys: Keys, port: int, name: str = "dynamodb", body: bytes = b"{}", path: str = "/"
) -> dict[str, str]:
    """Sign a call of DynamoDB's ListTables, or of another service."""
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Host": f"127.0.0.1:{port}"}
    request = AWSRequest("POST", f"http://127.0.0.1:{port}{path}", headers, body)
    credentials = Credentials(keys.aws_access_key_id, keys.aws_secret_access_key)
    SigV4Auth(credentials, name, REGION).add_auth(request)
    return dict(request.headers.items())


def assert_nothing_told(status: int, headers: dict[str, str], body: bytes) -> None:
    assert status in {401, 403}, body
    assert not [name for name in headers if name.startswith("access-control-")]
    assert b"plimsoll" not in body


@pytest.mark.parametrize("path", ["/workloads", "/events", "/events?run_id=x"])
@pytest.mark.parametrize("page", [*(page for page in PAGES if page != OWN_PAGE), *SITES])
def test_another_page_gets_nothing_from_the_service_though_it_knew_the_token(
    service: LocalService, page: str, path: str
) -> None:
    said = SITES[page] if page in SITES else PAGES[page](service.port)
    headers = {"Authorization": f"Bearer {TOKEN}", **said}
    assert_nothing_told(*call(service.port, "GET", path, headers))


@pytest.mark.parametrize("method", ["OPTIONS", "POST", "PUT", "DELETE"])
def test_another_page_changes_nothing(service: LocalService, method: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "https://page.example"}
    assert_nothing_told(*call(service.port, method, "/runs/x", headers, b"{}"))


def test_without_a_token_another_page_gets_as_little(twin: LocalTwin) -> None:
    with LocalService(twin, function="echo") as open_to_all:
        for page in set(PAGES) - {OWN_PAGE}:
            headers = PAGES[page](open_to_all.port)
            assert_nothing_told(*call(open_to_all.port, "GET", "/workloads", headers))
        for said in SITES.values():
            assert_nothing_told(*call(open_to_all.port, "GET", "/workloads", said))
        assert call(open_to_all.port, "GET", "/workloads", {})[0] == 200


def test_its_own_page_is_answered_and_needs_the_token_as_well(service: LocalService) -> None:
    own = {**PAGES[OWN_PAGE](service.port), "Sec-Fetch-Site": "same-origin"}
    known = {**own, "Authorization": f"Bearer {TOKEN}"}
    status, headers, _ = call(service.port, "POST", "/runs", known, b"{}")
    assert status == 200
    assert not [name for name in headers if name.startswith("access-control-")]
    assert_nothing_told(*call(service.port, "POST", "/runs", own, b"{}"))


@pytest.mark.parametrize("path", ["/", "/console/", "/console/config.json"])
def test_the_files_of_its_page_tell_nothing_of_what_is_behind(
    service: LocalService, path: str
) -> None:
    _, headers, body = call(service.port, "GET", path, {})
    assert TOKEN.encode() not in body
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    moved = call(service.port, "GET", path, {"Host": f"page.example:{service.port}"})
    assert_nothing_told(*moved)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_gets_nothing_from_aws_though_it_could_sign(twin: LocalTwin, page: str) -> None:
    port = aws_port(twin)
    headers = {**signed(twin.keys, port), **PAGES[page](port)}
    assert_nothing_told(*call(port, "POST", "/", headers, b"{}"))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_gets_nothing_from_the_runtime_api(
    runtime_port: int, page: str, method: str
) -> None:
    path = "/1/2018-06-01/runtime/invocation/next"
    assert_nothing_told(*call(runtime_port, method, path, PAGES[page](runtime_port)))


@pytest.mark.parametrize(
    "authorization", [{}, {"Authorization": "Bearer no"}, {"Authorization": f"Basic {TOKEN}"}]
)
def test_who_does_not_know_the_token_gets_nothing(
    service: LocalService, authorization: dict[str, str]
) -> None:
    assert_nothing_told(*call(service.port, "GET", "/workloads", authorization))


def test_the_function_that_answers_does_not_see_the_token(service: LocalService) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    status, _, body = call(service.port, "GET", "/workloads", headers)
    assert status == 200
    assert TOKEN.encode() not in body  # it answers with all that it was given


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),  # S3's list of buckets
        ("GET", f"/{BUCKET}"),
        ("OPTIONS", f"/{BUCKET}"),
        ("PUT", f"/{BUCKET}/planted"),
        ("POST", "/?Action=ListStacks"),
        ("POST", "/2015-03-31/functions/echo/invocations"),
        ("POST", "/_twin/invocations"),
        ("POST", "/_twin/protect"),
        ("POST", "/moto-api/reset"),
        ("GET", "/moto-api/data.json"),
        ("GET", "/latest/meta-data/iam/security-credentials/default-role"),
        ("GET", "/favicon.ico"),
    ],
)
def test_what_is_not_signed_gets_nothing_from_aws(twin: LocalTwin, method: str, path: str) -> None:
    assert_nothing_told(*call(aws_port(twin), method, path, {}, b"{}"))
    assert twin.client("lambda").list_functions()["Functions"]


def of_another_twin(_: LocalTwin, port: int) -> dict[str, str]:
    return signed(Keys.random(), port)


def of_moto(_: LocalTwin, port: int) -> dict[str, str]:
    return signed(Keys("twin", "twin"), port)


def with_the_name_alone(twin: LocalTwin, port: int) -> dict[str, str]:
    return signed(Keys(twin.keys.aws_access_key_id, "guessed"), port)


def for_another_body(twin: LocalTwin, port: int) -> dict[str, str]:
    return signed(twin.keys, port, body=b'{"Limit": 1}')


def for_another_path(twin: LocalTwin, port: int) -> dict[str, str]:
    return signed(twin.keys, port, path="/_twin/invocations")


def cut_off(twin: LocalTwin, port: int) -> dict[str, str]:
    headers = signed(twin.keys, port)
    return {**headers, "Authorization": headers["Authorization"][:-1]}


def without_its_time(twin: LocalTwin, port: int) -> dict[str, str]:
    headers = signed(twin.keys, port)
    del headers["X-Amz-Date"]
    return headers


@pytest.mark.parametrize(
    "forged",
    [
        of_another_twin,
        of_moto,
        with_the_name_alone,
        for_another_body,
        for_another_path,
        cut_off,
        without_its_time,
    ],
)
def test_a_signature_that_does_not_fit_gets_nothing(
    twin: LocalTwin, forged: Callable[[LocalTwin, int], dict[str, str]]
) -> None:
    port = aws_port(twin)
    assert call(port, "POST", "/", signed(twin.keys, port), b"{}")[0] == 200
    assert_nothing_told(*call(port, "POST", "/", forged(twin, port), b"{}"))


def link(twin: LocalTwin, keys: Keys, *, lasts_s: int = 60) -> str:
    client: Any = boto3.session.Session(**keys.session).client(
        "s3", endpoint_url=twin.endpoint_url, config=Config(signature_version="s3v4")
    )
    with closing(client):
        made = client.generate_presigned_url(
            "get_object", Params={"Bucket": BUCKET, "Key": KEY}, ExpiresIn=lasts_s
        )
    return str(made)


def test_a_signed_link_opens_its_object(twin: LocalTwin) -> None:
    with urlopen(link(twin, twin.keys), timeout=PATIENCE_S) as answer:
        assert answer.read() == b"a result"
        assert not [n for n in answer.headers if n.lower().startswith("access-control-")]


def refused_with(request: str | Request) -> int:
    with pytest.raises(HTTPError) as refused:
        urlopen(request, timeout=PATIENCE_S)
    refused.value.close()
    return refused.value.code


@pytest.mark.parametrize(
    "bent",
    [
        lambda twin: link(twin, Keys.random()),
        lambda twin: link(twin, twin.keys, lasts_s=0),
        lambda twin: link(twin, twin.keys).replace("X-Amz-Expires=60", "X-Amz-Expires=600"),
        lambda twin: link(twin, twin.keys).replace("/runs/", "/other/"),
        lambda twin: link(twin, twin.keys).partition("&X-Amz-Signature")[0],
        lambda twin: link(twin, twin.keys).partition("?")[0],
    ],
)
def test_a_link_that_was_bent_or_is_over_opens_nothing(
    twin: LocalTwin, bent: Callable[[LocalTwin], str]
) -> None:
    assert refused_with(bent(twin)) == 403


def test_a_link_is_no_key_to_anything_else(twin: LocalTwin) -> None:
    query = link(twin, twin.keys).partition("?")[2]
    request = Request(f"{twin.endpoint_url}/{BUCKET}/planted?{query}", data=b"x", method="PUT")
    assert refused_with(request) == 403


def test_the_environment_of_a_function_is_the_only_place_of_the_keys(twin: LocalTwin) -> None:
    """Not in any argument of a process, which every user of the machine can read."""
    assert twin._aws is not None
    server = psutil.Process(twin._aws.pid)
    for process in (server, *server.children(recursive=True)):
        assert twin.keys.aws_secret_access_key not in " ".join(process.cmdline())


def test_a_target_wants_its_password(database: int) -> None:
    for user in ("root", "admin", "plimsoll", ""):
        with pytest.raises(pymysql.err.OperationalError, match="Access denied"):
            pymysql.connect(host="127.0.0.1", port=database, user=user)


def test_two_twins_do_not_know_each_others_keys(twin: LocalTwin) -> None:
    stranger: Any = boto3.session.Session(**Keys.random().session).client(
        "dynamodb", endpoint_url=twin.endpoint_url
    )
    with closing(stranger), pytest.raises(ClientError) as refused:
        stranger.list_tables()
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403

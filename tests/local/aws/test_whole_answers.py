"""A stand-in that is killed as it answers has given no answer, and not an empty one."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import parse_headers
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError

from plimsoll.local.account import Keys
from plimsoll.local.aws.process import require_whole_answers

OK = b"HTTP/1.1 200 OK\r\n"
TYPE = b"Content-Type: application/x-amz-json-1.0\r\n"


@contextmanager
def answering(answer: bytes, service: str = "dynamodb") -> Iterator[Any]:
    """Give a client of a server that answers once, and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=f"http://127.0.0.1:{port}",
            config=Config(retries={"total_max_attempts": 1}, proxies={}),
            **Keys.random().session,
        )
        require_whole_answers(client)

        def serve() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as request:
                request.readline()
                length = parse_headers(request).get("Content-Length", "0")
                request.read(int(length))  # whole: what is left unread would reset the connection
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield client
        finally:
            thread.join()
            client.close()


def get(client: Any) -> Any:
    """Ask for an item."""
    return client.get_item(TableName="runs", Key={"run_id": {"S": "a"}})


@pytest.mark.parametrize(
    "answer",
    [
        OK,
        OK + TYPE,
        OK + TYPE + b"\r\n",
        OK + TYPE + b"Content-Length: 26\r\n",
        OK + TYPE + b"Content-Length: 26\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 26\r\n\r\n",
    ],
)
def test_one_that_was_cut_off_is_none(answer: bytes) -> None:
    with answering(answer) as client, pytest.raises(ConnectionClosedError, match="was closed"):
        get(client)


def test_a_whole_one_is_read() -> None:
    body = b'{"Item": {"a": {"S": "b"}}}'
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    with answering(OK + TYPE + length + body) as client:
        assert get(client)["Item"] == {"a": {"S": "b"}}


def test_an_empty_one_is_whole() -> None:
    with answering(OK + TYPE + b"Content-Length: 2\r\n\r\n{}") as client:
        assert "Item" not in get(client)


def test_one_without_a_body_is_whole() -> None:
    with answering(b"HTTP/1.1 204 No Content\r\n\r\n", "s3") as client:
        client.delete_object(Bucket="results", Key="a")


def test_one_in_chunks_is_whole() -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with answering(OK + TYPE + chunked) as client:
        assert "Item" not in get(client)


def test_what_has_no_body_by_its_method_is_whole() -> None:
    with answering(OK + b"Content-Length: 26\r\n\r\n", "s3") as client:
        assert client.head_object(Bucket="results", Key="a")["ContentLength"] == 26

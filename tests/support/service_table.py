"""A service table that answers within this process, a request at a time as DynamoDB's items do."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.client import BaseClient
from moto import mock_aws

from plimsoll.aws import clients
from tests.support.tables import create_tables

TABLE = "service"


@contextmanager
def service_table() -> Iterator[None]:
    """Make the table; moto's backends are plain objects, so requests take turns."""
    turn = threading.RLock()
    original = BaseClient._make_api_call  # type: ignore[attr-defined]  # its types hide it

    def one_at_a_time(self: Any, *arguments: Any) -> Any:
        with turn:
            return original(self, *arguments)

    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setattr(BaseClient, "_make_api_call", one_at_a_time)
        clients.through(None)
        create_tables()
        yield
        clients.through(None)

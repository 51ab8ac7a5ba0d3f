"""A service table that answers within this process, a request at a time as DynamoDB's items do."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.client import BaseClient

from tests.support.aws_resources import aws_account, make_tables


@contextmanager
def service_table() -> Iterator[None]:
    """Make the table; moto's backends are plain objects, so requests take turns."""
    turn = threading.RLock()
    original = BaseClient._make_api_call  # type: ignore[attr-defined]  # its types hide it

    def one_at_a_time(self: Any, *arguments: Any) -> Any:
        with turn:
            return original(self, *arguments)

    with aws_account(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", one_at_a_time)
        make_tables()
        yield

"""The table of teams' limits."""

from collections.abc import Iterator

import pytest

from tests.support.service_table import service_table


@pytest.fixture
def table() -> Iterator[None]:
    with service_table():
        yield

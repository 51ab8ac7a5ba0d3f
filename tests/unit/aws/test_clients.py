"""Where the clients of AWS services come from."""

from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.aws import clients


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    clients.through(None)


class Twin:
    """Gives a new client each time."""

    def client(self, service: str) -> Any:
        return object(), service


def test_clients_of_a_factory_stay_while_it_is_named_again() -> None:
    twin = Twin()
    clients.through(twin.client)
    s3 = clients.s3()
    clients.through(twin.client)
    assert clients.s3() is s3


def test_another_factory_makes_its_own() -> None:
    clients.through(Twin().client)
    s3 = clients.s3()
    clients.through(Twin().client)
    assert clients.s3() is not s3

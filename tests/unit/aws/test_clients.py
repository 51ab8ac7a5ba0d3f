"""Where the clients of AWS services come from."""

from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.aws import clients


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    clients.use_factory(None)


class Twin:
    """Gives a new client each time."""

    def client(self, service: str) -> Any:
        return object(), service


def test_clients_of_a_factory_stay_while_it_is_named_again() -> None:
    twin = Twin()
    clients.use_factory(twin.client)
    s3 = clients.s3()
    clients.use_factory(twin.client)
    assert clients.s3() is s3


def test_another_factory_makes_its_own() -> None:
    clients.use_factory(Twin().client)
    s3 = clients.s3()
    clients.use_factory(Twin().client)
    assert clients.s3() is not s3

"""AWS's services as moto answers for them within this process."""

from collections.abc import Iterator

import pytest

from tests.support.aws_resources import aws_account


@pytest.fixture
def account() -> Iterator[None]:
    """An account of the test's own, with nothing in it."""
    with aws_account():
        yield

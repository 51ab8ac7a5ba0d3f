"""A sink's credentials as Secrets Manager holds them."""

import pytest

from plimsoll.aws import clients
from plimsoll.metrics import SinkError
from plimsoll.metrics.influxdb import Credentials
from plimsoll.metrics.publishing import _read_secret

pytestmark = pytest.mark.usefixtures("account")


def made(secret: str) -> str:
    """Keep a secret; gives its ARN."""
    return clients.secretsmanager().create_secret(Name="s", SecretString=secret)["ARN"]


@pytest.mark.parametrize(
    ("secret", "credentials"),
    [
        ("abc", Credentials(token="abc")),
        ('{"token": "abc"}', Credentials(token="abc")),
        (  # as Timestream for InfluxDB makes it
            '{"organization": "o", "bucket": "b", "username": "u", "password": "p"}',
            Credentials(username="u", password="p"),
        ),
    ],
)
def test_the_secret_is_a_token_or_a_user(secret: str, credentials: Credentials) -> None:
    assert Credentials(**_read_secret(made(secret))) == credentials


@pytest.mark.parametrize("secret", ['{"password": "p"}', "[1]"])
def test_a_useless_secret_is_a_problem_that_does_not_tell_it(secret: str) -> None:
    arn = made(secret)
    with pytest.raises(SinkError, match="neither a token nor"):
        _read_secret(arn)

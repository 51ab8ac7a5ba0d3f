"""A sink's credentials as Secrets Manager holds them."""

import boto3
import pytest
from moto import mock_aws

from plimsoll.metrics import SinkError
from plimsoll.metrics.influxdb import Credentials
from plimsoll.metrics.publishing import _secret


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
def test_the_secret_is_a_token_or_a_user(
    monkeypatch: pytest.MonkeyPatch, secret: str, credentials: Credentials
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        arn = boto3.client("secretsmanager").create_secret(Name="s", SecretString=secret)["ARN"]
        assert Credentials(**_secret(arn)) == credentials


@pytest.mark.parametrize("secret", ['{"password": "p"}', "[1]"])
def test_a_useless_secret_is_a_problem_that_does_not_tell_it(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        arn = boto3.client("secretsmanager").create_secret(Name="s", SecretString=secret)["ARN"]
        with pytest.raises(SinkError, match="neither a token nor"):
            _secret(arn)

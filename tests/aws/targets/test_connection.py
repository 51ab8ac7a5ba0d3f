"""A target is reached with its own secret, and its server believed by whom its address says."""

import json
from pathlib import Path

import boto3
import pytest

from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.model.engine.asked import Tls
from plimsoll.model.request.dsn import TlsMode, rds_authorities
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.targets.connection import connect_as_load_user, connect_as_master

pytestmark = pytest.mark.usefixtures("account")
ON_AWS = ReachSettings(results_bucket="results", runs_table="runs", rds_ca_file="")
RDS = "db-1.c9akciq32.eu-west-1.rds.amazonaws.com"


def address(
    host: str, tls: TlsMode, *, identifier: str | None, secret: bool = True
) -> TargetAddress:
    arn = None
    if secret:
        told = json.dumps({"username": "admin", "password": "hunter2"})
        made = boto3.client("secretsmanager").create_secret(Name="target", SecretString=told)
        arn = made["ARN"]
    return TargetAddress(
        host=host,
        port=3306,
        database="d",
        secret_arn=arn,
        identifier=identifier,
        protocol="mysql",
        tls=tls,
    )


@pytest.mark.parametrize(
    ("host", "mode", "identifier", "tls"),
    [
        (RDS, "verify", "plimsoll-1", Tls(ca_pem=rds_authorities())),
        (RDS, "verify", None, Tls(ca_pem=rds_authorities())),
        ("db.example.org", "verify", None, Tls(ca_pem=None)),
        ("db.example.org", "require", None, Tls(verify=False)),
        ("db.example.org", "off", None, None),
    ],
    ids=["a target", "an endpoint of RDS", "another's", "whoever answers", "without"],
)
def test_whom_it_believes(
    host: str, mode: TlsMode, identifier: str | None, tls: Tls | None
) -> None:
    reached = connect_as_master(ON_AWS, address(host, mode, identifier=identifier))
    assert reached.tls == tls
    assert (reached.host, reached.user, reached.password) == (host, "admin", "hunter2")


def test_one_machine_has_an_authority_of_its_own(tmp_path: Path) -> None:
    own = tmp_path / "ca.pem"
    own.write_text("OWN")
    here = ON_AWS.model_copy(update={"rds_ca_file": str(own)})
    reached = connect_as_load_user(
        here, address("127.0.0.1", "verify", identifier="plimsoll-1"), "run"
    )
    assert reached.tls == Tls(ca_pem="OWN")


def test_a_target_without_a_password_sends_none() -> None:
    reached = connect_as_master(ON_AWS, address("10.0.0.7", "off", identifier="i-1", secret=False))
    assert (reached.user, reached.password, reached.tls) == ("", "", None)

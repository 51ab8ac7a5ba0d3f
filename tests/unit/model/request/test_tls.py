"""Whom a connection believes; and the authorities of RDS, as they come with Plimsoll."""

import datetime as dt
import re
import ssl

import pytest

from plimsoll.model.engine.asked import Tls
from plimsoll.model.request.dsn import (
    TlsMode,
    authorities_of_host,
    is_loopback,
    make_tls,
    rds_authorities,
)

OF_RDS = "db-1.c9akciq32.eu-west-1.rds.amazonaws.com"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("verify", Tls(verify=True, ca_pem="PEM")), ("require", Tls(verify=False)), ("off", None)],
)
def test_each_mode(mode: TlsMode, expected: Tls | None) -> None:
    assert make_tls(mode, "PEM") == expected


@pytest.mark.parametrize(
    ("host", "by_rds"),
    [
        (OF_RDS, True),
        (OF_RDS.upper(), True),
        ("a.proxy-c9akciq32.eu-west-1.rds.amazonaws.com", False),  # a certificate of Amazon's
        ("rds.amazonaws.com.example.org", False),
        ("db.example.org", False),
        ("10.0.0.7", False),
    ],
)
def test_rds_vouches_for_its_own_servers(host: str, by_rds: bool) -> None:
    assert authorities_of_host(host) == (rds_authorities() if by_rds else None)


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("127.0.0.2", True), ("::1", True), ("10.0.0.7", False), ("db", False)],
)
def test_this_machine(host: str, here: bool) -> None:
    assert is_loopback(host) == here


def test_the_authorities_of_rds_are_there_for_every_region_that_their_page_names() -> None:
    names = re.findall(r"^# Amazon RDS (\S+) Root CA", rds_authorities(), re.MULTILINE)
    assert len(set(names)) == 27
    assert {"us-east-1", "eu-west-1", "ap-southeast-2", "sa-east-1"} <= set(names)
    # one of each kind of key, of which RDS gives an instance one
    assert all(names.count(name) == 3 for name in names)


def test_python_takes_them_and_they_last() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=rds_authorities())
    loaded = context.get_ca_certs()
    assert len(loaded) == rds_authorities().count("BEGIN CERTIFICATE")
    in_a_year = dt.datetime.now(dt.UTC) + dt.timedelta(days=365)
    ends = [ssl.cert_time_to_seconds(str(one["notAfter"])) for one in loaded]
    assert min(ends) > in_a_year.timestamp()

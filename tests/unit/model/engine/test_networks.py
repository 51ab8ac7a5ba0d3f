"""Load goes to no address that nobody has named."""

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.errors import PlimsollError
from plimsoll.model.engine.networks import Network, is_within
from plimsoll.model.request.dsn import parse_dsn


@pytest.mark.parametrize("text", ["10.0.1.0/24", "10.0.1.7", "172.31.0.0/16", "fd00:1::/56"])
def test_networks_of_a_vpc_are_taken_as_they_are_written(text: str) -> None:
    assert TypeAdapter[str](Network).validate_python(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.0/8", "wider than a VPC; allowed are /16 and longer"),
        ("0.0.0.0/0", "wider than a VPC"),
        ("::/0", "allowed are /56 and longer"),
        ("10.0.0/24", "is not a network; such as 10.0.1.0/24"),
        ("db.example.com", "is not a network"),
    ],
)
def test_what_is_wider_or_no_network_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        TypeAdapter(Network).validate_python(text)


def test_an_address_is_within_one_of_them() -> None:
    networks = ("10.0.1.0/24", "10.0.2.7")
    assert [is_within(a, networks) for a in ("10.0.1.9", "10.0.2.7", "10.0.2.8", "::1")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_dsn_of_cassandra_names_them() -> None:
    target = parse_dsn("cassandra://10.0.1.5/ks?nodes=10.0.1.0/24,10.0.2.0/24")
    assert target.nodes == ("10.0.1.0/24", "10.0.2.0/24")
    assert parse_dsn("cassandra://10.0.1.5/ks").nodes == ()


@pytest.mark.parametrize(
    ("dsn", "why"),
    [
        ("cassandra://10.0.1.5/ks?nodes=10.0.0.0/8", "--dsn: nodes: '10.0.0.0/8' is wider"),
        ("mysql://u@10.0.1.5/db?nodes=10.0.0.0/24", r"unknown option 'nodes' \(allowed: tls\)"),
    ],
)
def test_a_dsn_that_names_others_is_refused(dsn: str, why: str) -> None:
    with pytest.raises(PlimsollError, match=why):
        parse_dsn(dsn)

"""An existing database is put under load only where the deployment allows it, in each state."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.workflow.endpoint import find_endpoint_address, find_endpoint_addresses
from tests.support.requested import REQUESTED

SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bench"
TARGET = EndpointTarget(kind="endpoint", engine="mysql", host="db.example.com", secret_arn=SECRET)
DIRECT = {"name": "direct"}


def toggled(**endpoint: Any) -> Request:
    """A request of that database, and of the same reached another way."""
    states = [DIRECT, {"name": "proxy", "endpoint": endpoint}]
    return Request.model_validate(
        {**REQUESTED, "target": TARGET.model_dump(), "toggle": {"states": states}}
    )


def test_an_endpoint_that_is_not_allowed_is_refused() -> None:
    allowed = {"db.example.com:3306": SECRET}
    assert find_endpoint_address(TARGET, allowed).identifier is None
    pooled = EndpointTarget(
        kind="endpoint",
        engine="postgres",
        host="db.example.com",
        secret_arn=SECRET,
        statement_mode="simple",
        allow_md5=True,
    )
    address = find_endpoint_address(pooled, {"db.example.com:5432": SECRET})
    assert (address.statement_mode, address.allow_md5) == ("simple", True)
    without = TARGET.model_copy(update={"secret_arn": None})
    with pytest.raises(UsageError, match=r"target\.secret_arn: is missing \(allowed: arn:aws:"):
        find_endpoint_address(without, allowed)
    cassandra = TARGET.model_copy(update={"engine": "cassandra"})
    with pytest.raises(UsageError, match="an existing Cassandra is measured by `plimsoll find`"):
        find_endpoint_address(cassandra, allowed)
    writing = TARGET.model_copy(update={"allow_writes": True})
    with pytest.raises(UsageError, match=r"target\.allow_writes: rows .* on one machine alone"):
        find_endpoint_address(writing, allowed)
    bounded = TARGET.model_copy(update={"stop_if": ("errors",)})
    with pytest.raises(UsageError, match=r"target\.stop_if: only a search from one machine can"):
        find_endpoint_address(bounded, allowed)
    with pytest.raises(
        UsageError, match=r"db\.example\.com:3306 is not among .* \(allowed: none\)"
    ):
        find_endpoint_address(TARGET, {})


def test_each_state_has_an_address_of_its_own_that_is_allowed() -> None:
    request = toggled(host="proxy.example.com", port=3307, tls="require")
    allowed = {"db.example.com:3306": SECRET, "proxy.example.com:3307": SECRET}
    addresses = find_endpoint_addresses(request, allowed)
    assert list(addresses) == ["direct", "proxy"]
    assert (addresses["direct"].host, addresses["direct"].tls) == ("db.example.com", "verify")
    proxy = addresses["proxy"]
    assert (proxy.host, proxy.port, proxy.tls) == ("proxy.example.com", 3307, "require")
    with pytest.raises(UsageError) as refused:
        find_endpoint_addresses(request, {"db.example.com:3306": SECRET})
    complaint = refused.value.complaints[0]
    assert complaint.path == ("toggle", "states", 1, "endpoint", "host")
    assert "proxy.example.com:3307 is not among the endpoints" in complaint.problem


def test_a_states_secret_opens_its_own_endpoint_alone() -> None:
    request = toggled(host="proxy.example.com")
    allowed = {"db.example.com:3306": SECRET, "proxy.example.com:3306": f"{SECRET}-of-proxy"}
    with pytest.raises(UsageError, match=r"toggle\.states\[1\]\.endpoint\.secret_arn: "):
        find_endpoint_addresses(request, allowed)

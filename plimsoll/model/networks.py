"""Where the nodes of a cluster may be: networks of addresses, none wider than a VPC.

A server tells of its cluster's other nodes, and may tell of anything. So the load goes to no
address that whoever asked for it has not named. The engine checks it, too
(`engine/src/spec/network.rs`).
"""

import ipaddress
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

_LEAST_PREFIX = {4: 16, 6: 56}


def network(text: str) -> str:
    """Give a network as it is written.

    Raises:
        ValueError: It is none, or too wide; says what is allowed.
    """
    try:
        known = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text!r} is no network; such as 10.0.1.0/24 or 10.0.1.7") from None
    least = _LEAST_PREFIX[known.version]
    if known.prefixlen < least:
        raise ValueError(f"{text!r} is wider than a VPC; allowed are /{least} and longer")
    return text


Network = Annotated[str, AfterValidator(network)]


def within(address: str, networks: Iterable[str]) -> bool:
    """Say whether an address is in one of some networks."""
    known = ipaddress.ip_address(address)
    return any(known in ipaddress.ip_network(one, strict=False) for one in networks)

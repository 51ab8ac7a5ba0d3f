"""How a connection is encrypted, and whom it trusts: one rule for DSNs, requests and deployments.

`verify` believes a server whose certificate an authority has signed for its name, `require`
encrypts and believes whoever answers, `off` does neither.
"""

from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, assert_never

from plimsoll.model.engine import Tls

TlsMode = Literal["verify", "require", "off"]
_BUNDLE = Path(__file__).parent / "rds_ca" / "bundle.pem"


@cache
def rds_authorities() -> str:
    """Read who signs the certificates of RDS's servers, as PEM."""
    return _BUNDLE.read_text()


def authorities(host: str) -> str | None:
    """Say who may vouch for a server by its name, as PEM; None: those whom the system trusts.

    RDS has authorities of its own; its proxies have certificates of Amazon's public ones
    (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-proxy.howitworks.html, 2026-11-22).
    """
    of_rds = host.lower().endswith(".rds.amazonaws.com")
    return rds_authorities() if of_rds and ".proxy-" not in host.lower() else None


def tls_towards(mode: TlsMode, ca_pem: str | None) -> Tls | None:
    """Give what a connection of a mode needs; None where it is not encrypted.

    Args:
        mode: How it is encrypted.
        ca_pem: Who may vouch for the server, as PEM; None: those whom the system trusts.
    """
    match mode:
        case "verify":
            return Tls(verify=True, ca_pem=ca_pem)
        case "require":
            return Tls(verify=False)
        case "off":
            return None
        case _:
            assert_never(mode)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, so that nobody stands between."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

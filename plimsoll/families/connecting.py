"""What the connections of every family share: TLS, and statements cut short for an error's line."""

import ssl

from plimsoll.model.engine import Tls

_SHORT_MAX = 80  # characters of a statement in an error's line


def tls_context(tls: Tls | None) -> ssl.SSLContext | None:
    """Make what a driver needs for TLS; None where the target is reached without it."""
    if tls is None:
        return None
    context = ssl.create_default_context(cadata=tls.ca_pem)
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def short(statement: str) -> str:
    """Write a statement in one line, cut to 80 characters."""
    line = " ".join(statement.split())
    return line if len(line) <= _SHORT_MAX else line[: _SHORT_MAX - 3] + "..."

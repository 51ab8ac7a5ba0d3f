"""Data source names: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, `cassandra://...`."""

from typing import get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.errors import UsageError
from plimsoll.model.databases import ProtocolFacts, protocol_facts
from plimsoll.model.engine import EngineTarget, Protocol, Tls

_FACTS: dict[Protocol, ProtocolFacts] = {name: protocol_facts(name) for name in get_args(Protocol)}
_SCHEMES = {scheme: name for name, facts in _FACTS.items() for scheme in facts.dsn_schemes}
FORM = " or ".join(
    f"{facts.dsn_schemes[0]}://USER:PASSWORD@HOST:PORT/{facts.database_word.upper()}"
    for facts in _FACTS.values()
)
_TLS = {"off": None, "required": Tls(verify=False), "verify": Tls(verify=True)}


def parse_dsn(text: str, *, option: str = "--dsn") -> EngineTarget:
    """Read a DSN.

    Characters that mean something in a URL are written as %XX. `?tls=required` encrypts without
    checking who answers; `?tls=verify` checks against the system's roots.

    Args:
        text: The DSN.
        option: What an error calls it.

    Raises:
        UsageError: It is not a DSN; the message never repeats it, since it may hold a password.
    """
    try:
        parts = urlsplit(text)
        given_port = parts.port
    except ValueError:
        raise UsageError(f"{option}: its host or port is not one; the form is {FORM}") from None
    if not parts.scheme or not parts.netloc:
        raise UsageError(f"{option}: not a DSN; the form is {FORM}")
    if parts.scheme not in _SCHEMES:
        allowed = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise UsageError(f"{option}: unknown database {parts.scheme}:// (allowed: {allowed})")
    protocol = _SCHEMES[parts.scheme]
    facts = _FACTS[protocol]
    port = facts.default_port if given_port is None else given_port
    database = unquote(parts.path.removeprefix("/"))
    needed = {"user": parts.username} if facts.needs_user else {}
    needed |= {"host": parts.hostname, facts.database_word: database}
    for name, value in needed.items():
        if not value:
            raise UsageError(f"{option}: has no {name}; the form is {FORM}")
    if not 1 <= port <= 65535:
        raise UsageError(f"{option}: the port must be from 1 to 65535, not {port}")
    if "/" in parts.path.removeprefix("/"):
        raise UsageError(f"{option}: a {facts.database_word}'s name has no /; the form is {FORM}")
    return EngineTarget(
        protocol=protocol,
        host=parts.hostname or "",
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=database,
        tls=_tls(parts.query, option),
    )


def _tls(query: str, option: str) -> Tls | None:
    try:
        options = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise UsageError(f"{option}: options are written ?tls=required") from None
    tls: Tls | None = None
    for name, value in options:
        if name != "tls":
            raise UsageError(f"{option}: unknown option {name!r} (allowed: tls)")
        if value not in _TLS:
            raise UsageError(f"{option}: unknown tls {value!r} (allowed: {', '.join(_TLS)})")
        tls = _TLS[value]
    return tls

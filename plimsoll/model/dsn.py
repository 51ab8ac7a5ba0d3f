"""Data source names: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, `cassandra://...`."""

from typing import get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.errors import UsageError
from plimsoll.model.databases import ProtocolFacts, protocol_facts
from plimsoll.model.engine import EngineTarget, Protocol
from plimsoll.model.tls import TlsMode, authorities, is_loopback, tls_towards

_FACTS: dict[Protocol, ProtocolFacts] = {name: protocol_facts(name) for name in get_args(Protocol)}
_SCHEMES = {scheme: name for name, facts in _FACTS.items() for scheme in facts.dsn_schemes}
_MODES: dict[str, TlsMode] = {mode: mode for mode in get_args(TlsMode)}
FORM = " or ".join(
    f"{facts.dsn_schemes[0]}://USER:PASSWORD@HOST:PORT/{facts.database_word.upper()}"
    for facts in _FACTS.values()
)


def parse_dsn(text: str, *, option: str = "--dsn", password: str = "") -> EngineTarget:
    """Read a DSN.

    Characters that mean something in a URL are written as %XX. `?tls=` says how the connection is
    encrypted (`plimsoll.model.tls`). Where it does not, a password is sent to another machine by
    `verify` alone; on this one, where nobody stands between, and without a password it is `off`.

    Args:
        text: The DSN.
        option: What an error calls it.
        password: Where it has none itself.

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
    host = parts.hostname or ""
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
    mode = _tls_mode(parts.query, option)
    password = unquote(parts.password or "") or password
    if mode is None:
        mode = "verify" if password and not is_loopback(host) else "off"
    return EngineTarget(
        protocol=protocol,
        host=host,
        port=port,
        user=unquote(parts.username or ""),
        password=password,
        database=database,
        tls=tls_towards(mode, authorities(host)),
    )


def _tls_mode(query: str, option: str) -> TlsMode | None:
    try:
        options = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise UsageError(f"{option}: options are written ?tls=verify") from None
    mode: TlsMode | None = None
    for name, value in options:
        if name != "tls":
            raise UsageError(f"{option}: unknown option {name!r} (allowed: tls)")
        if value not in _MODES:
            raise UsageError(f"{option}: unknown tls {value!r} (allowed: {', '.join(_MODES)})")
        mode = _MODES[value]
    return mode

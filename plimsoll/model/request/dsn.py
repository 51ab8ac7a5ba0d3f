"""Data source names: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, `postgres://`, `cassandra://`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, TypeVar, assert_never, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from plimsoll.errors import UsageError
from plimsoll.model.databases import Engine, ProtocolFacts, find_protocol, find_protocol_facts
from plimsoll.model.engine.asked import EngineTarget, Protocol, StatementMode, Tls
from plimsoll.model.engine.networks import require_network

# TLS modes and trusted authorities: one rule for DSNs, requests and deployments.


TlsMode = Literal["verify", "require", "off"]
_BUNDLE = Path(__file__).parent / "rds_ca" / "bundle.pem"


@cache
def rds_authorities() -> str:
    """Read the certificate authorities of RDS's servers, as PEM."""
    return _BUNDLE.read_text()


def authorities_of_host(host: str) -> str | None:
    """Return the certificate authorities of a host, as PEM; None for the system's own.

    RDS has its own authorities. RDS proxies have certificates of Amazon's public authorities
    (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-proxy.howitworks.html, 2026-11-22).
    """
    of_rds = host.lower().endswith(".rds.amazonaws.com")
    return rds_authorities() if of_rds and ".proxy-" not in host.lower() else None


def make_tls(mode: TlsMode, ca_pem: str | None) -> Tls | None:
    """Return the TLS settings of a mode; None if the mode is not encrypted.

    Args:
        mode: how connections are encrypted.
        ca_pem: certificate authorities of the server, as PEM; None for the system's own.
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
    """Return whether a host is this machine, so that nobody can listen in between."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


T = TypeVar("T")
_FACTS: dict[Protocol, ProtocolFacts] = {
    name: find_protocol_facts(name) for name in get_args(Protocol)
}
_SCHEMES = {scheme: name for name, facts in _FACTS.items() for scheme in facts.dsn_schemes}
_MODES: dict[str, TlsMode] = {mode: mode for mode in get_args(TlsMode)}
_STATEMENT_MODES: dict[str, StatementMode] = {mode: mode for mode in get_args(StatementMode)}
_TRUTHS = {"true": True, "false": False}
FORM = " or ".join(
    f"{facts.dsn_schemes[0]}://USER:PASSWORD@HOST:PORT/{facts.database_word.upper()}"
    for facts in _FACTS.values()
)


@dataclass
class _Options:
    """The options after the `?` of a DSN."""

    tls: TlsMode | None = None
    statement_mode: StatementMode = "prepared"
    allow_md5: bool = False
    nodes: tuple[str, ...] = ()


def find_engine(dsn: str) -> Engine:
    """Return the engine of a DSN that has been parsed before."""
    scheme = urlsplit(dsn).scheme
    engines: dict[str, Engine] = {name: name for name in get_args(Engine)}
    protocol = _SCHEMES[scheme]
    of_protocol = [name for name in engines.values() if find_protocol(name) == protocol]
    return engines.get(scheme, of_protocol[0])


def note_statement_mode(target: EngineTarget) -> tuple[str, ...]:
    """Return remarks on how the statements were sent; empty for prepared statements."""
    if target.statement_mode == "prepared":
        return ()
    return ("statements were sent as text with their values in it (statement_mode=simple)",)


def parse_dsn(text: str, *, option: str = "--dsn", password: str = "") -> EngineTarget:
    """Parse a DSN.

    Characters with a meaning in URLs are written as %XX. `?tls=` sets the encryption. Without it, a
    DSN with a password for another machine gets `verify`. A DSN without a password, or for this
    machine, gets `off`.

    Args:
        text: the DSN.
        option: name of the option, for errors.
        password: password to use if the DSN has none.

    Raises:
        UsageError: It is no valid DSN; the message never repeats it, since it may hold a password.
    """
    _refuse_unencoded(text, option)
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
    options = _parse_options(parts.query, option, facts)
    mode = options.tls
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
        tls=make_tls(mode, authorities_of_host(host)),
        statement_mode=options.statement_mode,
        allow_md5=options.allow_md5,
        nodes=options.nodes,
    )


_MEANT = {"@": "%40", "/": "%2F", "?": "%3F", "#": "%23", "[": "%5B", "]": "%5D"}


def _refuse_unencoded(text: str, option: str) -> None:
    """Refuse a user, password or database with a character that means something in a URL.

    Raises:
        UsageError: There is one; the message says how to write each, and repeats nothing else.
    """
    text = text.partition("://")[2]
    account, at, place = text.rpartition("@")
    found = {letter for letter in account if letter in _MEANT}
    # An @ alone can be told from the last one; after one in a database's name, no database follows.
    if not (at and found - {"@"} and ("/" in place or found & {"?", "#"})):
        found = {"#"} & set(text)
    if found:
        advice = ", ".join(f"{letter} as {_MEANT[letter]}" for letter in _MEANT if letter in found)
        raise UsageError(
            f"{option}: characters with a meaning in addresses are encoded in a user, password or"
            f" name: write {advice}"
        )


# What other clients call the option
_TLS_OF_OTHERS = frozenset(
    {"sslmode", "ssl-mode", "ssl_mode", "ssl", "usessl", "sslrootcert", "ssl_ca", "ssl-ca"}
)


def _parse_options(query: str, option: str, facts: ProtocolFacts) -> _Options:
    try:
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise UsageError(f"{option}: options are written ?tls=verify") from None
    options = _Options()
    allowed = ["tls"]
    allowed += ["statement_mode", "allow_md5"] if facts.has_statement_modes else []
    allowed += ["nodes"] if facts.has_clusters else []
    for name, value in given:
        if name not in allowed:
            meant = "; write tls=verify or tls=require" if name.lower() in _TLS_OF_OTHERS else ""
            problem = f"unknown option {name!r} (allowed: {', '.join(allowed)}){meant}"
            raise UsageError(f"{option}: {problem}")
        if name == "tls":
            options.tls = _parse_choice(_MODES, name, value, option)
        elif name == "statement_mode":
            options.statement_mode = _parse_choice(_STATEMENT_MODES, name, value, option)
        elif name == "nodes":
            options.nodes = _parse_networks(value, option)
        else:
            options.allow_md5 = _parse_choice(_TRUTHS, name, value, option)
    return options


def _parse_networks(value: str, option: str) -> tuple[str, ...]:
    try:
        return tuple(require_network(one) for one in value.split(","))
    except ValueError as error:
        raise UsageError(f"{option}: nodes: {error}") from None


def _parse_choice(choices: Mapping[str, T], name: str, value: str, option: str) -> T:
    if value not in choices:
        raise UsageError(f"{option}: unknown {name} {value!r} (allowed: {', '.join(choices)})")
    return choices[value]

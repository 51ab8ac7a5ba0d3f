"""Protocols and engines of databases that Plimsoll supports, with the facts about each.

A family of databases is all databases that speak one wire protocol. `plimsoll.databases` holds
what Plimsoll asks their servers; the tables here hold what the other modules need to know. Each
table is a `match` over a closed set, so mypy reports a table that lacks a new member.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

from plimsoll.model.aws.prices import Item
from plimsoll.model.aws.volumes import Service
from plimsoll.model.engine.asked import Protocol

# Languages of statements; also the workload field that holds them (`postgres` falls back to `sql`)
Language = Literal["sql", "cql", "postgres"]
RdsEngine = Literal["mysql", "mariadb", "postgres"]
AuroraEngine = Literal["aurora-mysql", "aurora-postgresql"]
ManagedEngine = Literal[RdsEngine, AuroraEngine]  # engines whose versions RDS lists
Engine = Literal["mysql", "mariadb", "postgres", "cassandra"]  # engines of an existing endpoint


@dataclass(frozen=True)
class ProtocolFacts:
    """Facts that hold for every database that speaks a protocol.

    Attributes:
        language: language of the statements.
        dsn_schemes: schemes of data source names; examples show the first.
        default_port: TCP port of a data source name that gives none.
        database_word: the database's own word for what holds the tables of a dataset.
        needs_user: whether every server requires a user.
        has_consistency: whether an operation names the replicas that must acknowledge it.
        has_statement_modes: whether statements may be sent as text, and MD5 logins be allowed.
        has_clusters: whether rows are spread over nodes that clients connect to directly.
        parameters_max: most `?` parameters that a prepared statement can have.
        full: error codes with which a server refuses a connection because it has too many.
    """

    language: Language
    dsn_schemes: tuple[str, ...]
    default_port: int
    database_word: Literal["database", "keyspace"]
    needs_user: bool
    has_consistency: bool
    has_statement_modes: bool
    has_clusters: bool
    parameters_max: int
    full: frozenset[str]


_MYSQL = ProtocolFacts(
    language="sql",
    dsn_schemes=("mysql", "mariadb"),
    default_port=3306,
    database_word="database",
    needs_user=True,
    has_consistency=False,
    has_statement_modes=False,
    has_clusters=False,
    parameters_max=65_535,  # num_params has two bytes in the reply to COM_STMT_PREPARE
    # Too many connections: in all, per user (server's limit), per user (account's limit). Source:
    # dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
    full=frozenset({"1040", "1203", "1226"}),
)
_CQL = ProtocolFacts(
    language="cql",
    dsn_schemes=("cassandra",),
    default_port=9042,
    database_word="keyspace",
    needs_user=False,
    has_consistency=True,
    has_statement_modes=False,
    has_clusters=True,
    parameters_max=65_535,  # a [short] holds the number of values of EXECUTE
    # A node at native_transport_max_concurrent_connections closes a new connection without an
    # error. So does a node that fails; but that one does not answer after the step either.
    full=frozenset({"overloaded", "connection_lost"}),
)

_POSTGRES = ProtocolFacts(
    language="postgres",
    dsn_schemes=("postgres", "postgresql"),
    default_port=5432,
    database_word="database",
    needs_user=True,
    has_consistency=False,
    has_statement_modes=True,
    has_clusters=False,
    parameters_max=65_535,  # two bytes of Bind hold their number
    # too_many_connections (www.postgresql.org/docs/current/errcodes-appendix.html, class 53)
    full=frozenset({"53300"}),
)


def find_protocol_facts(protocol: Protocol) -> ProtocolFacts:
    """Return the facts of a protocol."""
    match protocol:
        case "mysql":
            return _MYSQL
        case "cql":
            return _CQL
        case "postgres":
            return _POSTGRES
        case _:
            assert_never(protocol)


def find_protocol(engine: Engine | AuroraEngine) -> Protocol:
    """Return the protocol that an engine speaks. `plimsoll.words` has the engine's display name."""
    match engine:
        case "mysql" | "mariadb" | "aurora-mysql":
            return "mysql"
        case "postgres" | "aurora-postgresql":
            return "postgres"
        case "cassandra":
            return "cql"
        case _:
            assert_never(engine)


@dataclass(frozen=True)
class RdsFacts:
    """Facts about an engine on RDS.

    Attributes:
        service: service whose rules apply to the engine's volumes.
        instance_price: item of the price table for an hour of an instance.
    """

    service: Service
    instance_price: Item


def find_rds_facts(engine: RdsEngine) -> RdsFacts:
    """Return the facts of an engine on RDS."""
    match engine:
        case "mysql":
            return RdsFacts("rds-mysql", Item.RDS_MYSQL)
        case "mariadb":
            return RdsFacts("rds-mariadb", Item.RDS_MARIADB)
        case "postgres":
            return RdsFacts("rds-postgres", Item.RDS_POSTGRES)
        case _:
            assert_never(engine)

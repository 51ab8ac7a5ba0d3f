"""The databases that Plimsoll knows: their protocols and engines, with the plain facts of each.

A family of databases is all that speaks one wire protocol. What is asked of its servers is in
`plimsoll.databases`; what lower floors have to know of it is in the tables here. Each table is a
`match` over a closed set, so that mypy names it when the set gets a new member.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

from plimsoll.model.aws.prices import Item
from plimsoll.model.aws.volumes import Service
from plimsoll.model.engine.asked import Protocol

# of statements; also the field of a workload that holds them (`postgres` falls back on `sql`)
Language = Literal["sql", "cql", "postgres"]
RdsEngine = Literal["mysql", "mariadb", "postgres"]
AuroraEngine = Literal["aurora-mysql", "aurora-postgresql"]
ManagedEngine = Literal[RdsEngine, AuroraEngine]  # of whose versions RDS can be asked
Engine = Literal["mysql", "mariadb", "postgres", "cassandra"]  # of an existing endpoint


@dataclass(frozen=True)
class ProtocolFacts:
    """What is true of every database that speaks a protocol.

    Attributes:
        language: Of its statements.
        dsn_schemes: What its data source names begin with; examples show the first.
        default_port: The TCP port where a data source name gives none.
        database_word: What it calls the thing that holds a dataset's tables.
        needs_user: Whether every server asks for a user.
        has_consistency: Whether an operation says how many replicas must have answered.
        has_statement_modes: Whether statements may go as text, and logins be by MD5.
        has_clusters: Whether rows are divided between nodes, each of which clients reach.
        parameters_max: How many `?` a prepared statement may have.
        full: Codes of the engine's errors by which a server refuses a connection for want of room.
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
    parameters_max=65_535,  # num_params: two bytes of COM_STMT_PREPARE's answer
    # of all connections, of a user's by the server's limit, of a user's by its account's:
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
    parameters_max=65_535,  # a [short] counts the values of EXECUTE
    # A node with native_transport_max_concurrent_connections closes a further one without a word.
    # One that has gone does so too; then it does not answer after the step.
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
    parameters_max=65_535,  # two bytes of Bind count them
    # too many connections (www.postgresql.org/docs/current/errcodes-appendix.html, class 53)
    full=frozenset({"53300"}),
)


def protocol_facts(protocol: Protocol) -> ProtocolFacts:
    """Look up what is true of every database that speaks a protocol."""
    match protocol:
        case "mysql":
            return _MYSQL
        case "cql":
            return _CQL
        case "postgres":
            return _POSTGRES
        case _:
            assert_never(protocol)


def protocol_of_engine(engine: Engine | AuroraEngine) -> Protocol:
    """Look up the protocol that an engine speaks; its name for people is in `plimsoll.words`."""
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
    """What is true of an engine on RDS.

    Attributes:
        service: Whose rules its volumes follow.
        instance_price: What an hour of its instances is in the price table.
    """

    service: Service
    instance_price: Item


def rds_facts(engine: RdsEngine) -> RdsFacts:
    """Look up what is true of an engine on RDS."""
    match engine:
        case "mysql":
            return RdsFacts("rds-mysql", Item.RDS_MYSQL)
        case "mariadb":
            return RdsFacts("rds-mariadb", Item.RDS_MARIADB)
        case "postgres":
            return RdsFacts("rds-postgres", Item.RDS_POSTGRES)
        case _:
            assert_never(engine)

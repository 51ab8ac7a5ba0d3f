"""An existing database as a target."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from plimsoll.model.base import Model
from plimsoll.model.databases import Engine, protocol_facts, protocol_of_engine
from plimsoll.model.engine.asked import StatementMode, require_cluster, require_options
from plimsoll.model.engine.networks import Network
from plimsoll.model.request.dsn import TlsMode
from plimsoll.model.validation import validate

HostName = Annotated[str, Field(min_length=1, max_length=253)]
Port = Annotated[int, Field(ge=1, le=65535)]
SecretArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:secretsmanager:")]


class StateEndpoint(Model):
    """Another address of an existing database, or of another database with the same rows.

    Fields that are left out are those of the target.
    """

    host: HostName | None = Field(
        None, description="Its host name; `host:port` must be in the deployment's list."
    )
    port: Port | None = Field(None, description="Its port.")
    secret_arn: SecretArn | None = Field(
        None, description="The Secrets Manager secret that opens it: on AWS."
    )
    tls: TlsMode | None = Field(None, description="How connections are encrypted.")
    statement_mode: StatementMode | None = Field(
        None,
        description="Of a PostgreSQL: `simple` for a pooler that does not know prepared ones.",
    )
    allow_md5: bool | None = Field(
        None, description="Of a PostgreSQL: let it ask for the password by MD5."
    )


class EndpointTarget(Model):
    """An existing database. Only the workload's tables are created and deleted in it.

    A deployment must allow the endpoint. On one machine the request file itself is the permission,
    and the credentials come from the environment (docs/finding.md).
    """

    kind: Literal["endpoint"] = Field(description="An existing database.")
    engine: Engine = Field(description="What it is; a Cassandra on one machine only.")
    host: HostName = Field(
        description="Its host name; `host:port` must be in the deployment's list."
    )
    port: Port = Field(
        3306, description="Its port; without one 5432 of a PostgreSQL, 9042 of a Cassandra."
    )
    database: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")] = Field(
        "plimsoll", description="The database that holds the dataset."
    )
    secret_arn: SecretArn | None = Field(
        None,
        description="The Secrets Manager secret with its `username` and `password`: on AWS always.",
    )
    tls: TlsMode = Field(
        "verify",
        description="How connections are encrypted: `verify` believes only a server whose"
        " certificate is signed for its name, by RDS's authorities where it is RDS's and by the"
        " system's else; `require` encrypts and believes whoever answers; `off` does neither.",
    )
    statement_mode: StatementMode = Field(
        "prepared",
        description="Of a PostgreSQL: `simple` sends statements as text with their values in it,"
        " for poolers that do not know prepared ones.",
    )
    allow_md5: bool = Field(
        False,
        description="Of a PostgreSQL: let it ask for the password by MD5, which whoever listens can"
        " break.",
    )
    nodes: tuple[Network, ...] = Field(
        (),
        description="Of a Cassandra: where its cluster's other nodes may be, as networks"
        " (`10.0.1.0/24`) or addresses; each operation then goes to a node that has its rows. None:"
        " the load goes to `host` alone.",
    )

    @model_validator(mode="before")
    @classmethod
    def _has_its_engines_usual_port(cls, given: Any) -> Any:
        if isinstance(given, dict) and "port" not in given:
            for engine in get_args(Engine):
                if given.get("engine") == engine:
                    port = protocol_facts(protocol_of_engine(engine)).default_port
                    return {**given, "port": port}
        return given

    @model_validator(mode="after")
    def _only_its_family_has_an_option(self) -> Self:
        require_options(protocol_of_engine(self.engine), self.statement_mode, self.allow_md5)
        require_cluster(protocol_of_engine(self.engine), self.nodes)
        return self

    @property
    def address(self) -> str:
        """The address as `host:port`."""
        return f"{self.host}:{self.port}"

    def reached(self, otherwise: StateEndpoint | None) -> Self:
        """Return this target at another address.

        Raises:
            UsageError: The engine does not have an option that the address sets.
        """
        given = otherwise.model_dump(exclude_none=True) if otherwise else {}
        return validate(type(self), {**self.model_dump(), **given})

    @property
    def snapshot(self) -> None:
        """Always None, since only RDS targets can be restored from a snapshot."""

    @property
    def provisioned(self) -> bool:
        """Always False: it exists before the run and is kept."""
        return False

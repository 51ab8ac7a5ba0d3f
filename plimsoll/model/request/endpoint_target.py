"""An existing database as a target."""

import re
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import Service, Volume, require_valid_volume
from plimsoll.model.base import Model
from plimsoll.model.databases import Engine, find_protocol, find_protocol_facts, find_rds_facts
from plimsoll.model.engine.asked import StatementMode, require_cluster, require_options
from plimsoll.model.engine.networks import Network
from plimsoll.model.request.dsn import TlsMode
from plimsoll.model.validation import validate

HostName = Annotated[str, Field(min_length=1, max_length=253)]
Port = Annotated[int, Field(ge=1, le=65535)]
_KEYSPACE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,47}")
StopText = Annotated[
    str, Field(pattern=r"^(p50|p99|max|errors|rate)(\.[A-Za-z0-9_-]{1,64})?( ?> ?.{1,24})?$")
]
SecretArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:secretsmanager:")]


class StateEndpoint(Model):
    """Another address of an existing database, or of another database with the same rows.

    Fields that are left out are those of the target.
    """

    host: HostName | None = Field(
        None, description="Host name; `host:port` must be in the deployment's list."
    )
    port: Port | None = Field(None, description="TCP port.")
    secret_arn: SecretArn | None = Field(
        None, description="ARN of the Secrets Manager secret with the credentials; on AWS only."
    )
    tls: TlsMode | None = Field(None, description="Encryption of the connections.")
    statement_mode: StatementMode | None = Field(
        None,
        description="PostgreSQL only: `simple` for a pooler without support for prepared"
        " statements.",
    )
    allow_md5: bool | None = Field(
        None, description="PostgreSQL only: allow the server to ask for MD5 authentication."
    )


class EndpointTarget(Model):
    """An existing database. Only the workload's tables are created and deleted in it.

    A deployment must allow the endpoint. On one machine the request file itself is the permission,
    and the credentials come from the environment (docs/finding.md).
    """

    kind: Literal["endpoint"] = Field(description="An existing database.")
    engine: Engine = Field(description="Database engine; Cassandra on one machine only.")
    host: HostName = Field(description="Host name; `host:port` must be in the deployment's list.")
    port: Port = Field(
        3306, description="TCP port. PostgreSQL's default is 5432, Cassandra's 9042."
    )
    database: Annotated[str, Field(pattern=r"^[^\u0000-\u001f\u007f/\\`\"']{1,64}$")] = Field(
        "plimsoll",
        description="Database that holds the dataset. A keyspace of Cassandra has letters, digits"
        " and _.",
    )
    secret_arn: SecretArn | None = Field(
        None,
        description="ARN of the Secrets Manager secret that holds `username` and `password`;"
        " required on AWS.",
    )
    tls: TlsMode = Field(
        "verify",
        description="Encryption of the connections. `verify` accepts only a server whose"
        " certificate is valid for its name: signed by RDS's authorities on RDS, by one that the"
        " system trusts elsewhere. `require` encrypts and accepts any certificate. `off` does not"
        " encrypt.",
    )
    statement_mode: StatementMode = Field(
        "prepared",
        description="PostgreSQL only: `simple` sends statements as text with their values"
        " included, for poolers without support for prepared statements.",
    )
    allow_md5: bool = Field(
        False,
        description="PostgreSQL only: allow the server to ask for MD5 authentication, which an"
        " eavesdropper can break.",
    )
    nodes: tuple[Network, ...] = Field(
        (),
        description="Cassandra only: networks (`10.0.1.0/24`) or addresses in which the cluster's"
        " other nodes may be; each operation then goes to a node that holds its rows. If empty,"
        " all load goes to `host`.",
    )

    allow_writes: bool = Field(
        False,
        exclude_if=lambda value: not value,
        description="Let the workload change rows that Plimsoll did not make; on one machine only."
        " Without it tables of one's own are only read.",
    )
    stop_if: tuple[StopText, ...] = Field(
        (),
        exclude_if=lambda value: not value,
        description="Conditions that end the load at once, checked each second; on one machine"
        " only: `p99 > 200ms`, `p99.read > 200ms` (or p50, max), `errors`, `errors > 1%`,"
        " `rate > 500`.",
    )
    volume: Volume | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="Volume that the database stands on, of AWS or of another cloud, so that its"
        " IOPS can be named as the limit. It changes nothing.",
    )

    @model_validator(mode="after")
    def _names_a_possible_keyspace(self) -> Self:
        if self.engine == "cassandra" and not _KEYSPACE.fullmatch(self.database):
            problem = "a keyspace of Cassandra has letters, digits and _, and begins with a letter"
            raise UsageError(Complaint(("database",), problem, self.database))
        return self

    @model_validator(mode="after")
    def _stands_on_a_possible_volume(self) -> Self:
        if self.volume is not None:
            require_valid_volume(self.volume, service=self.service)
            for field in ("credits_start", "read_cache_mib"):
                if (value := getattr(self.volume, field)) is not None:
                    problem = "is an option of emulated volumes; an existing database has none"
                    raise UsageError(Complaint(("volume", field), problem, value))
        return self

    @property
    def service(self) -> Service:
        """The service whose rules apply to its volume, by its host's name."""
        on_rds = self.host.lower().endswith(".rds.amazonaws.com")
        if not on_rds or self.engine == "cassandra":
            return "ebs"
        return find_rds_facts(self.engine).service

    @model_validator(mode="before")
    @classmethod
    def _has_its_engines_usual_port(cls, given: Any) -> Any:
        if isinstance(given, dict) and "port" not in given:
            for engine in get_args(Engine):
                if given.get("engine") == engine:
                    port = find_protocol_facts(find_protocol(engine)).default_port
                    return {**given, "port": port}
        return given

    @model_validator(mode="after")
    def _require_options_of_family(self) -> Self:
        require_options(find_protocol(self.engine), self.statement_mode, self.allow_md5)
        require_cluster(find_protocol(self.engine), self.nodes)
        return self

    @property
    def address(self) -> str:
        """The address as `host:port`."""
        return f"{self.host}:{self.port}"

    def redirect(self, otherwise: StateEndpoint | None) -> Self:
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

"""The configuration of a deployment: `context.plimsoll` in `cdk.json`.

Every value has a default. A deployment of an empty configuration costs almost nothing while idle.
"""

import json
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.base import Model
from plimsoll.model.datasets import SnapshotArn
from plimsoll.model.deployment.principals import have_common_caller
from plimsoll.model.run.dashboards import DashboardUrl
from plimsoll.model.settings import Setting

Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
Zone = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d[a-z]$")]
SubnetId = Annotated[str, Field(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]
PrefixListId = Annotated[str, Field(pattern=r"^pl-([0-9a-f]{8}|[0-9a-f]{17})$")]
Address = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
TeamName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]

# CloudFormation hands what is stored to a function, before and after an update, in one event of at
# most 256 KiB.
STORED_MOST_CHARACTERS = 90_000
NAME_MOST_CHARACTERS = 24  # a function's name has at most 64; our longest suffix takes 25
_SESSION = r"[A-Za-z0-9+=,.@_*-]{1,64}"
_IAM = r"(user|role)/([!-)+-~]*/)?[A-Za-z0-9+=,.@_-]{1,64}"  # printable characters without `*`
_STS = rf"assumed-role/[A-Za-z0-9+=,.@_-]{{1,64}}/{_SESSION}"
Principal = Annotated[
    str,
    Field(
        max_length=400,
        pattern=rf"^arn:aws[a-z-]*:(iam::\d{{12}}:{_IAM}|sts::\d{{12}}:{_STS})$",
    ),
]

# docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html; a stack's tag has a value
TagKey = Annotated[
    str, Field(min_length=1, max_length=128, pattern=r"^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$")
]
TagValue = Annotated[
    str, Field(min_length=1, max_length=256, pattern=r"^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$")
]
NEW_KEY = "new"  # in place of a key's ARN: the deployment creates one
KmsKey = Annotated[
    str,
    Field(
        pattern=rf"^({NEW_KEY}|arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{{12}}:key/"
        r"(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}))$"
    ),
]
PolicyArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[!-)+-~]+$")]
TAGS_MOST = 40  # AWS allows 50 a resource; the others are Plimsoll's and CloudFormation's own

DEFAULT_NAME = "plimsoll"  # prefix of the names of a deployment's resources
TARGET_PORTS = {"mysql": 3306, "postgres": 5432, "cassandra": 9042}


class ExistingVpc(Model):
    """An existing VPC, used instead of a new one.

    S3, DynamoDB and Secrets Manager must be reachable from its subnets, through endpoints or a NAT
    gateway. Load clients run in the first subnet, and targets are created in that subnet's zone.
    """

    vpc_id: Annotated[str, Field(pattern=r"^vpc-([0-9a-f]{8}|[0-9a-f]{17})$")]
    subnet_ids: Annotated[tuple[SubnetId, ...], Field(min_length=2)]
    availability_zones: Annotated[tuple[Zone, ...], Field(min_length=2)]  # zone of each subnet
    # Prefix list of S3 in the region; needed by Cassandra targets
    s3_prefix_list_id: PrefixListId | None = None

    @model_validator(mode="after")
    def _zones_fit(self) -> Self:
        if len(self.subnet_ids) != len(self.availability_zones):
            raise ValueError("give one entry of `availability_zones` for each of `subnet_ids`")
        if len(set(self.availability_zones)) < 2:
            raise ValueError("RDS demands subnets in at least two availability zones")
        return self


class Network(Model):
    """The network of targets and load clients."""

    cidr: IPv4Network = IPv4Network("10.73.0.0/20")
    # Zones of the VPC that is created; empty for the region's first two
    availability_zones: Annotated[tuple[Zone, ...], Field(max_length=6)] = ()
    existing: ExistingVpc | None = None  # None to create a VPC with the range `cidr`

    @model_validator(mode="after")
    def _zones_of_its_own(self) -> Self:
        zones = self.availability_zones
        if zones and self.existing is not None:
            raise ValueError("`existing` names its own `availability_zones`")
        if zones and (len(zones) < 2 or len(set(zones)) < len(zones)):
            raise ValueError("RDS demands at least two different `availability_zones`")
        return self

    @model_validator(mode="after")
    def _room_for_clients(self) -> Self:
        if not 16 <= self.cidr.prefixlen <= 24:
            raise ValueError(f"`cidr` must be from /16 to /24, not /{self.cidr.prefixlen}")
        return self


class AllowedEndpoint(Model):
    """An existing database that runs are allowed to put under load."""

    host: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+$", max_length=253)]
    port: Annotated[int, Field(ge=1, le=65_535)]
    cidr: IPv4Network  # addresses that `host` resolves to; the fleet is allowed to reach them
    secret_arn: Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:secretsmanager:")]

    @model_validator(mode="after")
    def _refuse_whole_internet(self) -> Self:
        if self.cidr.prefixlen < 8:
            raise ValueError(f"`cidr` {self.cidr} is too wide: name the endpoint's own network")
        return self


class NoMetrics(Model):
    """No metrics store: results are only in S3 and DynamoDB."""

    kind: Literal["none"] = "none"


class InfluxDbMetrics(Model):
    """Timestream for InfluxDB: an instance that AWS charges per hour, used or not."""

    kind: Literal["influxdb"]
    instance_type: Annotated[str, Field(pattern=r"^db\.influx\.[0-9a-z]+$")] = "db.influx.medium"
    size_gib: Annotated[int, Field(ge=20, le=16_384)] = 20


class LiveAnalyticsMetrics(Model):
    """Timestream for LiveAnalytics: closed to new customers since 2025-06-20."""

    kind: Literal["liveanalytics"]
    memory_hours: Annotated[int, Field(ge=1, le=8766)] = 24
    magnetic_days: Annotated[int, Field(ge=1, le=73_000)] = 365


class CloudWatchMetrics(Model):
    """CloudWatch, which charges each metric for the hours in which it receives points."""

    kind: Literal["cloudwatch"]


Metrics = Annotated[
    NoMetrics | InfluxDbMetrics | LiveAnalyticsMetrics | CloudWatchMetrics,
    Field(discriminator="kind"),
]


class Team(Model):
    """The members of a team and its limits."""

    # ARNs of IAM users and roles; `arn:aws:sts::ACCOUNT:assumed-role/ROLE/*` for a role's sessions
    principals: tuple[Principal, ...] = ()
    concurrent_runs: Annotated[int, Field(ge=1, le=1000)] = 2
    # At the same time, over all runs of the team
    clients: Annotated[int, Field(ge=1, le=100_000)] = 200
    # The next limits are None for no limit.
    # At the same time, over all targets of the team
    provisioned_iops: Annotated[int, Field(ge=0)] | None = 100_000
    usd_per_run: Annotated[float, Field(gt=0)] | None = 50.0
    spend_usd_per_month: Annotated[float, Field(gt=0)] | None = 200.0


def require_one_team_each(teams: Mapping[str, Team]) -> None:
    """Refuse teams of which some caller would belong to two.

    Raises:
        ValueError: They share a principal; names the first that do.
    """
    owners: dict[str, str] = {}
    for team, limits in teams.items():
        for principal in limits.principals:
            for other, owner in owners.items():
                if owner != team and have_common_caller(principal, other):
                    raise ValueError(
                        f"teams {owner} and {team} share a principal: {other} and {principal}"
                    )
            owners[principal] = team


class Api(Model):
    """The REST API: who may call it, and how often. The teams' `principals` say who is in which."""

    organization_id: Annotated[str, Field(pattern=r"^o-[a-z0-9]{10,32}$")] | None = None
    # Accounts allowed besides the deployment's own
    accounts: tuple[Annotated[str, Field(pattern=r"^\d{12}$")], ...] = ()
    calls_per_second: Annotated[int, Field(ge=1, le=10_000)] = 20
    calls_burst: Annotated[int, Field(ge=1, le=5_000)] = 40
    # The role with which API Gateway writes all logs of the account and region; whether it stays
    # when the deployment is destroyed, since other APIs may have come to rely on it
    makes_log_role: bool = True
    keeps_log_role: bool = True

    @model_validator(mode="after")
    def _require_one_way(self) -> Self:
        if self.organization_id is not None and self.accounts:
            raise ValueError("give either `organization_id` or `accounts`")
        return self


class Cassandra(Model):
    """Cassandra targets. Instances in the VPC cannot download it, so the archive is deployed."""

    archive: str = ".cache/apache-cassandra-5.0.8-bin.tar.gz"  # `make cassandra` downloads it


class DeploymentConfig(Model):
    """The configuration of one deployment in `cdk.json`."""

    # Needed only for a second deployment in the same account and region
    name: Annotated[
        str, Field(pattern=r"^plimsoll(-[a-z0-9]+)*$", max_length=NAME_MOST_CHARACTERS)
    ] = DEFAULT_NAME
    regions: tuple[Region, ...] = ()  # one stack in each; empty for the region of the command line
    network: Network = Network()
    allowed_endpoints: tuple[AllowedEndpoint, ...] = ()
    # RDS snapshots from which targets may be restored
    allowed_snapshots: tuple[SnapshotArn, ...] = ()
    metrics: Metrics = NoMetrics()
    teams: Annotated[dict[TeamName, Team], Field(min_length=1)] = Field(
        default_factory=lambda: {"default": Team()}
    )
    api: Api = Api()
    prices: PriceOverrides = PriceOverrides()
    alarm_addresses: tuple[Address, ...] = ()  # each has to confirm one message
    # Whether the account gets a budget for each team, with alarms at 80 % and 100 % of its month
    spend_alarms: bool = False
    # None to share the account's concurrency
    reserved_load_clients: Annotated[int, Field(ge=1)] | None = None
    cassandra: Cassandra | None = None
    grafana: DashboardUrl | None = None  # address of an imported dashboard of docs/grafana
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"  # how much the functions log
    # Key for whatever is kept; None for AWS's own keys
    kms_key_arn: KmsKey | None = None
    # Permissions boundary of every role that the deployment creates
    permissions_boundary_arn: PolicyArn | None = None
    # Tags of everything that the deployment and its runs create
    tags: Annotated[dict[TagKey, TagValue], Field(max_length=TAGS_MOST)] = Field(
        default_factory=dict
    )
    # After so many days, S3 and DynamoDB delete a run
    results_days: Annotated[int, Field(ge=1, le=3650)] = 365
    keep_results: bool = False  # whether `cdk destroy` keeps the bucket and the table

    @model_validator(mode="after")
    def _require_one_team_each(self) -> Self:
        require_one_team_each(self.teams)
        return self

    @model_validator(mode="after")
    def _zones_are_in_the_region(self) -> Self:
        zones = self.network.availability_zones
        if any(zone[:-1] != region for zone in zones for region in self.regions):
            raise ValueError("`network.availability_zones` are of one region: deploy it alone")
        return self

    @model_validator(mode="after")
    def _key_is_in_its_region(self) -> Self:
        key = self.kms_key_arn
        if key not in {None, NEW_KEY} and self.regions not in {(), (str(key).split(":")[3],)}:
            raise ValueError("a key belongs to one region: with `regions`, `kms_key_arn` is `new`")
        return self

    @field_validator("tags")
    @classmethod
    def _keys_are_free(cls, tags: dict[str, str]) -> dict[str, str]:
        seen: dict[str, str] = {}
        for key in tags:
            folded = key.lower()
            if folded.startswith(("aws:", "plimsoll:")):
                raise ValueError(f"{key}: `aws:` and `plimsoll:` are reserved")
            if folded in seen:  # IAM takes both for one key
                raise ValueError(f"{seen[folded]} and {key} differ in case alone")
            seen[folded] = key
        return tags

    @model_validator(mode="after")
    def _cassandra_reaches_s3(self) -> Self:
        existing = self.network.existing
        if self.cassandra and existing and existing.s3_prefix_list_id is None:
            raise ValueError(
                "`cassandra` in an existing VPC needs `network.existing.s3_prefix_list_id`"
            )
        return self

    @model_validator(mode="after")
    def _fits_an_event(self) -> Self:
        if (length := sum(map(len, self.stored.values()))) > STORED_MOST_CHARACTERS:
            raise ValueError(
                "teams, prices, allowed_endpoints, allowed_snapshots and tags:"
                f" {length:,} characters together are too many: at most {STORED_MOST_CHARACTERS:,}"
                " (`plimsoll team put` adds teams without this limit)"
            )
        return self

    @property
    def stack_name(self) -> str:
        """The name of the stack. With `regions`, the region's name is appended."""
        return "Plimsoll" if self.name == DEFAULT_NAME else self.name

    @property
    def stored(self) -> dict[str, str]:
        """The values that functions read from the service table, by variable."""
        values = {
            Setting.TEAMS: self.teams_json,
            Setting.PRICES: self.prices.as_json,
            Setting.ALLOWED_ENDPOINTS: self.endpoints_json,
            Setting.ALLOWED_SNAPSHOTS: json.dumps(self.allowed_snapshots, separators=(",", ":")),
            Setting.TAGS: json.dumps(self.tags, separators=(",", ":")),
        }
        return {setting.name: value for setting, value in values.items()}

    @property
    def endpoints_json(self) -> str:
        """JSON {host:port: ARN of the secret} of the endpoints."""
        secrets = {
            f"{endpoint.host}:{endpoint.port}": endpoint.secret_arn
            for endpoint in self.allowed_endpoints
        }
        return json.dumps(secrets, separators=(",", ":"))

    @property
    def teams_json(self) -> str:
        """JSON {team: its configuration} of the teams."""
        teams = {name: team.model_dump(exclude_defaults=True) for name, team in self.teams.items()}
        return json.dumps(teams, separators=(",", ":"))


def read_deployment(context: Mapping[str, Any] | None) -> DeploymentConfig:
    """Validate the configuration of a deployment.

    Args:
        context: the value of `plimsoll` in the context of `cdk.json`; None if there is none.

    Raises:
        UsageError: A value is invalid; one line for each, with its path, the problem and the value.
    """
    try:
        return DeploymentConfig.model_validate(context or {})
    except ValidationError as error:
        raise UsageError("\n".join(_error_lines(error))) from None


def _error_lines(error: ValidationError) -> list[str]:
    lines = []
    for fault in error.errors():
        path = ".".join(("plimsoll", *(str(part) for part in fault["loc"])))
        given = "" if isinstance(fault["input"], dict) else f" (given: {fault['input']!r})"
        lines.append(f"cdk.json: {path}: {fault['msg']}{given}")
    return lines

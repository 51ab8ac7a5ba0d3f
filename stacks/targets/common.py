"""What every target's template has in common: tags, expiry, and place."""

from aws_cdk import (
    Acknowledgment,
    Aws,
    BootstraplessSynthesizer,
    CfnCondition,
    CfnParameter,
    CfnTag,
    Fn,
    Stack,
    Token,
    Validations,
)
from constructs import Construct

RUN_ID_PATTERN = "[a-z0-9]+(-[a-z0-9]+)*"
# whether RDS may create a version past its standard support, and charge Extended Support for it
LIFECYCLES = ["open-source-rds-extended-support-disabled", "open-source-rds-extended-support"]
RUN_ID_LENGTH = 40  # with its prefix, within RDS's 63 characters for an identifier


class TargetStack(Stack):
    """A template that a run passes to CloudFormation; this app itself never deploys it.

    It needs no bootstrapped account and holds only the database: functions attached to the VPC
    would delay its deletion by 20 to 40 minutes.
    """

    def __init__(self, scope: Construct, name: str, *, description: str) -> None:
        super().__init__(
            scope, name, description=description, synthesizer=BootstraplessSynthesizer()
        )
        Validations.of(self).acknowledge(
            Acknowledgment(
                id="CloudFormation-Validate::W9003",
                reason="a number given as text: see `declare_provisioned`",
            )
        )
        self.run_id = self.text(
            "RunId",
            "The run that this target is made for; part of the names of its resources.",
            pattern=RUN_ID_PATTERN,
            max_length=RUN_ID_LENGTH,
        )
        self.team = self.text("Team", "The team that the run is charged to.")
        self.expires_at = self.text(
            "ExpiresAt",
            "When the target is deleted even if its run is not over: ISO 8601 in UTC.",
            pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
        )
        self.availability_zone = self.text(
            "AvailabilityZone",
            "The zone of the load clients: no network between zones is measured.",
        )
        self.security_group_id = self.text(
            "SecurityGroupId", "The security group that lets the fleet, and nobody else, in."
        )

    def text(
        self,
        name: str,
        description: str,
        *,
        allowed: list[str] | None = None,
        default: str | None = None,
        pattern: str | None = None,
        max_length: int | None = None,
    ) -> str:
        """Declare a non-empty text parameter; return its Ref."""
        return CfnParameter(
            self,
            name,
            type="String",
            description=description,
            allowed_values=allowed,
            default=default,
            allowed_pattern=pattern,
            min_length=None if allowed or pattern else 1,
            max_length=max_length,
        ).value_as_string

    def lifecycle(self) -> str:
        """Declare whether Extended Support is allowed, which RDS charges for; return its Ref."""
        return self.text(
            "EngineLifecycleSupport",
            "Whether RDS may charge Extended Support for a version past its standard support.",
            allowed=LIFECYCLES,
            default=LIFECYCLES[0],
        )

    def declare_provisioned(self, name: str, description: str) -> float:
        """Declare a whole number and return it, or no value if it is 0: nothing to provision.

        The type is text, since in moto a Number parameter never equals a text.
        """
        parameter = CfnParameter(
            self,
            name,
            type="String",
            description=f"{description} 0: the storage has none to provision.",
            default="0",
            allowed_pattern="[0-9]+",
        )
        given = CfnCondition(
            self,
            f"{name}Given",
            expression=Fn.condition_not(Fn.condition_equals(parameter.value_as_string, "0")),
        )
        return Token.as_number(
            Fn.condition_if(given.logical_id, parameter.value_as_string, Aws.NO_VALUE)
        )

    @property
    def resource_tags(self) -> list[CfnTag]:
        """The tags by which the janitor, the bill and the permissions recognize a target."""
        return [
            CfnTag(key="plimsoll:run-id", value=self.run_id),
            CfnTag(key="plimsoll:team", value=self.team),
            CfnTag(key="plimsoll:expires-at", value=self.expires_at),
        ]

"""A deployed stack, as its outputs describe it: what a caller outside needs to start a run."""

from pydantic import Field

from plimsoll.errors import PlimsollError
from plimsoll.model.base import Model
from plimsoll.runs import services
from plimsoll.runs.deployment import Deployment


class NotDeployedError(PlimsollError):
    """No such stack is deployed in this account and region."""


class Deployed(Model):
    """The outputs of the stack that a run needs."""

    results_bucket: str = Field(alias="ResultsBucket")
    runs_table: str = Field(alias="RunsTable")
    state_machine_arn: str = Field(alias="RunStateMachine")
    results_days: int = Field(alias="ResultsDays")

    @property
    def deployment(self) -> Deployment:
        """Where records and files are."""
        return Deployment(results_bucket=self.results_bucket, runs_table=self.runs_table)


def find(stack: str) -> Deployed:
    """Read a stack's outputs with the caller's own credentials.

    Raises:
        NotDeployedError: There is none of this name, or it is not Plimsoll's.
    """
    client = services.cloudformation()
    try:
        found = client.describe_stacks(StackName=stack)["Stacks"][0]
    except client.exceptions.ClientError as error:
        raise NotDeployedError(f"--stack {stack}: {error.response['Error']['Message']}") from error
    outputs = {o["OutputKey"]: o["OutputValue"] for o in found.get("Outputs", [])}
    wanted = {str(field.alias) for field in Deployed.model_fields.values()}
    if missing := sorted(wanted - outputs.keys()):
        raise NotDeployedError(
            f"--stack {stack}: not a deployment of Plimsoll, or an older one:"
            f" it has no output {missing[0]}"
        )
    return Deployed.model_validate({name: outputs[name] for name in wanted})

"""The team of a caller: only the configuration decides it, never what the caller says."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.complaints import FieldPath
from plimsoll.errors import OtherTeamError, UnknownPrincipalError
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.deployment.principals import matches_principal


@dataclass(frozen=True)
class Caller:
    """An authenticated caller.

    Attributes:
        principal: The ARN, as API Gateway gives it.
        team: The team that the caller belongs to.
    """

    principal: str
    team: str

    def require_team(self, named: str, path: FieldPath = ("team",)) -> None:
        """Refuse the name of another team.

        Args:
            named: The named team.
            path: The path to the field that names it.

        Raises:
            OtherTeamError: It is not the caller's team.
        """
        if named != self.team:
            raise OtherTeamError(self.principal, path, named=named, own=self.team)


def identify_caller(teams: Mapping[str, Team], principal: str | None) -> Caller:
    """Find the team of a caller.

    Raises:
        UnknownPrincipalError: The caller belongs to no team.
    """
    if principal is None:
        raise UnknownPrincipalError("the call names no IAM principal: sign it (SigV4)")
    for name, team in teams.items():
        if any(matches_principal(pattern, principal) for pattern in team.principals):
            return Caller(principal, name)
    raise UnknownPrincipalError(
        f"{principal} belongs to no team of this deployment"
        " (`principals` of `teams` in cdk.json, or `plimsoll team put`)"
    )

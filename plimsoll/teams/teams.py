"""Which team a caller belongs to: by the configuration, and by nothing that the caller says."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.errors import PlimsollError
from plimsoll.model.deployment import Team
from plimsoll.model.principals import matches


class UnknownPrincipalError(PlimsollError):
    """The caller belongs to no team of this deployment."""


class OtherTeamError(PlimsollError):
    """The caller names a team that is not its own.

    Attributes:
        field: Where it names one.
        named: The team that it names.
        own: The one that it belongs to.
    """

    def __init__(self, principal: str, *, field: str, named: str, own: str) -> None:
        super().__init__(f"{principal} belongs to team {own}")
        self.field = field
        self.named = named
        self.own = own


@dataclass(frozen=True)
class Caller:
    """Who calls.

    Attributes:
        principal: Its ARN, as API Gateway gives it.
        team: The team that it belongs to.
    """

    principal: str
    team: str

    def require_team(self, named: str, *, field: str = "team") -> None:
        """Refuse another team's name.

        Raises:
            OtherTeamError: It is not the caller's own.
        """
        if named != self.team:
            raise OtherTeamError(self.principal, field=field, named=named, own=self.team)


def caller_of(teams: Mapping[str, Team], principal: str | None) -> Caller:
    """Find a caller's team.

    Raises:
        UnknownPrincipalError: It has none.
    """
    if principal is None:
        raise UnknownPrincipalError("the call names no IAM principal: sign it (SigV4)")
    for name, team in teams.items():
        if any(matches(pattern, principal) for pattern in team.principals):
            return Caller(principal, name)
    raise UnknownPrincipalError(
        f"{principal} belongs to no team of this deployment (teams.NAME.principals)"
    )

"""Addresses of dashboards, and links to a run on each of them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self
from urllib.parse import quote, urlencode

from pydantic import Field, ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.base import Model

GRAFANA_VARIABLE = "PLIMSOLL_GRAFANA"
AROUND = timedelta(minutes=5)  # time shown before a run began and after it ended
# No user, password or query, so that an address cannot contain a secret
_URL = r"^https?://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9._~-]+)*/?$"
DashboardUrl = Annotated[str, Field(pattern=_URL, max_length=250)]
Link = Annotated[str, Field(pattern=r"^https?://[!#-;=?-~]+$", max_length=1000)]
Links = dict[Literal["grafana", "cloudwatch"], Link]


class Dashboards(Model):
    """Addresses of the dashboards; None if there is none."""

    grafana: DashboardUrl | None = None  # a dashboard of docs/grafana, after its import
    cloudwatch: Link | None = None  # the deployment's own page

    @classmethod
    def read_from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the addresses for runs on one machine from `PLIMSOLL_GRAFANA`.

        Raises:
            UsageError: The variable holds no valid address.
        """
        try:
            return cls(grafana=environment.get(GRAFANA_VARIABLE) or None)
        except ValidationError:
            raise UsageError(
                f"{GRAFANA_VARIABLE}: must be a dashboard's address, https://HOST/d/UID, without"
                " user, password, query and fragment"
            ) from None

    def links(self, run_id: str, *, since: datetime, until: datetime | None) -> Links:
        """Return links to the dashboards that show the time span of a run.

        Args:
            run_id: id of the run.
            since: time of its submission.
            until: time of its end; None if it has not ended.
        """
        links: Links = {}
        first, last = since - AROUND, until + AROUND if until else None
        if self.grafana is not None:
            asked = {
                "var-run": run_id,
                "from": str(_epoch_ms(first)),
                "to": str(_epoch_ms(last)) if last else "now",
            }
            links["grafana"] = f"{self.grafana.rstrip('/')}?{urlencode(asked, quote_via=quote)}"
        if self.cloudwatch is not None:
            asked = {"start": _format_iso(first), "end": _format_iso(last) if last else "null"}
            links["cloudwatch"] = f"{self.cloudwatch}?{urlencode(asked)}"
        return links


def _epoch_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _format_iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"

"""What an idle deployment costs: prices by the hour, with their date."""

from datetime import date
from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model

HOURS_PER_MONTH = 730.0  # AWS's own figure in its calculators

Usd = Annotated[float, Field(ge=0)]


class Prices(Model):
    """Prices in US dollars. None: not known here, and then no total is given.

    The default is the list price of us-east-1; other regions are up to a third dearer.
    """

    as_of: date = date(2025, 6, 1)
    interface_endpoint_per_hour: Usd = 0.01  # per zone; AWS PrivateLink
    influxdb_instance_per_hour: Usd | None = None  # of the instance type that is configured
    influxdb_per_gib_month: Usd | None = None


class Cost(Model):
    """One part of what an idle deployment costs, in US dollars per month."""

    what: str
    usd_per_month: float | None

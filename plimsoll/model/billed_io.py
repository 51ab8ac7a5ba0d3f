"""The I/Os of an Aurora cluster's volume, as AWS counts and charges them."""

from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model


class BilledIo(Model):
    """What CloudWatch counted of a cluster's volume, in whole periods of five minutes."""

    reads: Annotated[float, Field(ge=0)]
    writes: Annotated[float, Field(ge=0)]
    beside_operations: Annotated[float, Field(ge=0)]  # of both, in periods in which load was sent
    operations: Annotated[int, Field(ge=0)]  # that succeeded in those periods

    @property
    def ios(self) -> float:
        """All of them."""
        return self.reads + self.writes

    @property
    def per_operation(self) -> float | None:
        """I/Os for an operation; None where no period has operations."""
        return self.beside_operations / self.operations if self.operations else None

"""What one operation takes of each resource: the measured ground of every prediction.

They are its visits, by the forced-flow law (`plimsoll.capacity.forced_flow`), which assumes nothing
of distributions.
"""

from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model

Amount = Annotated[float, Field(ge=0)]


class Demand(Model):
    """Means per successful operation over one observation; None: not known, never 0."""

    ops_per_second: Annotated[float, Field(gt=0)]  # successful operations, while it was observed
    ios: Amount | None = None  # I/Os of the volume, as it counts them
    read_ios: Amount | None = None
    write_ios: Amount | None = None
    mib: Amount | None = None  # read and written
    cpu_s: Amount | None = None  # of one processor, by the server
    log_flushes: Amount | None = None  # of its redo log, or write-ahead log
    lock_wait_s: Amount | None = None  # for rows and tables, over all sessions

"""What one operation takes of each resource: the measured ground of every prediction.

By the forced flow law a resource does X x (its visits per operation) a second at X operations a
second, and by the utilization law it is busy X x (its demand per operation) of the time
(P. J. Denning and J. P. Buzen, "The Operational Analysis of Queueing Network Models", ACM
Computing Surveys 10(3), 1978). Neither assumes anything of distributions.
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

from collections.abc import Mapping, Sequence
from typing import Literal

from plimsoll.complaints import Scalar
from plimsoll.errors import PlimsollError as PlimsollError
from plimsoll.errors import UsageError as UsageError
from plimsoll.library.arguments import WorkloadName
from plimsoll.library.judge import judge as judge
from plimsoll.library.load import Callback
from plimsoll.library.load import LoadResult as LoadResult
from plimsoll.library.load import Progress as Progress
from plimsoll.library.results import Result as Result
from plimsoll.library.results import compare as compare
from plimsoll.library.results import read_request as read_request
from plimsoll.library.results import read_result as read_result
from plimsoll.load_line.options import Limits
from plimsoll.model.engine.asked import LoadOrder
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.judging.capacity import Capacity as Capacity
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.request import Request as Request
from plimsoll.report.comparing.comparing import Comparison as Comparison

__version__: str

# A test holds these signatures against load_line/options.py.
def find(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = ...,
    limits: Limits = None,
    statistic: Statistic = "p99",
    records: int | None = None,
    prepare: bool = False,
    drop: bool = False,
    allow_writes: bool = False,
    strategy: Literal["ramp", "rate"] = "ramp",
    max_connections: int = 256,
    max_rate: float | None = None,
    volume: str | None = None,
    stop_if: str | Sequence[str] = (),
    warmup_s: float | None = None,
    duration_s: float | None = None,
    warm_s: float = 5.0,
    time_limit_s: int = 900,
    audits_off: Sequence[AuditName] = (),
    quick: bool = False,
) -> Result: ...
def load(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = ...,
    records: int | None = None,
    connections: int = 8,
    threads: int | None = None,
    poll_us: int | None = None,
    warmup_s: float = 5.0,
    duration_s: float = 30.0,
    rate: float | None = None,
    arrivals: Literal["constant", "poisson"] | None = None,
    operations_most: int | None = None,
    timeout_ms: int = 60_000,
    seed: int | None = None,
    statements: bool = False,
    conditions: bool = True,
) -> LoadResult: ...
def prepare(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = ...,
    records: int | None = None,
    connections: int = 8,
    load_order: LoadOrder = "key",
) -> dict[str, int]: ...

"""What the gate counts, and its result: two states of a database, compared by counts."""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import Protocol

Count = Literal[
    "log_bytes",
    "log_records",
    "log_page_images",
    "log_flushes",
    "pages_requested",
    "pages_read",
    "pages_written",
    "rows_examined",
    "rows_sent",
    "rows_met",
    "rows_changed",
    "temporary_tables",
    "temporary_files",
    "sorts",
    "statements",
    "commits",
    "bytes_sent",
    "bytes_received",
    "locks_waited",
    "errors",
    "client_cpu_us",
    "server_cpu_us",
]
# Processor time scatters with whatever else runs. It is shown and never decides.
Verdict = Literal["more work", "no more work", "no answer"]
WEAK: frozenset[Count] = frozenset({"client_cpu_us", "server_cpu_us"})
TURNS_MIN = 3  # fewest turns that a state may have
MIX = "(mix)"  # the block that has all operations together

Counts = dict[Count, float | None]  # per operation; None if the server does not tell a count


class Turn(Model):
    """The counts of one fresh copy of the dataset in one state."""

    blocks: dict[str, Counts]  # keys: operations, and `MIX`
    settled: bool = True  # whether the server's own work had ended before each block


class Setting(Model):
    """What has to be equal for two measurements to be comparable."""

    server: str
    protocol: Protocol
    workload: str
    dataset: str
    records: int
    parameters: dict[str, Scalar]
    layout: tuple[TableLayout, ...]  # before the state's own changes
    server_settings: dict[str, str]
    operations: int  # number of operations in each block
    connections: int
    seed: int


class State(Model):
    """One state, measured in several turns."""

    name: str
    setting: Setting
    turns: tuple[Turn, ...]


COUNT_MOST = 1e15  # no operation counts more: a server does less in a day


def require_whole(state: State) -> None:
    """Refuse a state that was read from a file, and that no measurement gives.

    Raises:
        UsageError: Turns have different operations or counts, or a count is impossible.
    """
    forms = [{name: set(counts) for name, counts in turn.blocks.items()} for turn in state.turns]
    if any(form != forms[0] for form in forms):
        raise UsageError("its turns have different operations or counts")
    for turn in state.turns:
        for name, counts in turn.blocks.items():
            for count, value in counts.items():
                if value is not None and not 0 <= value <= COUNT_MOST:
                    raise UsageError(f"{name}: {count} of {value:g} for each operation")


class Change(Model):
    """What became of one count of one operation."""

    operation: str
    count: Count
    before: float | None  # mean for each operation; None if the server does not tell it
    after: float | None
    p_value: float | None = None  # None if it is not tested
    # Smallest share of `before` that would be found in 95 of 100 comparisons
    detectable_share: float | None = None
    outcome: Literal["more", "less", "unchanged", "not tested", "not told"]


class GateResult(Model):
    """The gate's result."""

    before: State
    after: State
    # Probability that a comparison of equal states finds any change, over all that was tested
    false_alarms_max: Annotated[float, Field(gt=0, lt=1)]
    tested: int  # number of counts that were tested together
    changes: tuple[Change, ...]
    only_before: tuple[str, ...] = ()  # operations that one state alone has; they are not compared
    only_after: tuple[str, ...] = ()
    verdict: Verdict
    sentences: tuple[str, ...]  # one for each operation that changed
    notes: tuple[str, ...] = ()

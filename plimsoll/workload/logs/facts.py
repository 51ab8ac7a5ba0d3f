"""What a log says beside its statements."""

from dataclasses import dataclass, field

from plimsoll.workload.logs.fold import Fold


@dataclass
class LogFacts:
    """A log as it was read.

    Attributes:
        kind: What it is, for people: "slow log of MySQL or MariaDB".
        fold: The counts of its statements.
        server: The product and version of the server; empty if the log does not say.
        one_in: How many statements, or sessions, each logged one stands for.
        samples_sessions: Whether whole sessions were sampled, rather than statements.
        durations: Whether it is a log of statements with their durations, which may have a
            threshold.
        notes: Remarks for the reader.
    """

    kind: str
    fold: Fold
    server: str = ""
    one_in: int = 1
    samples_sessions: bool = False
    durations: bool = False
    notes: list[str] = field(default_factory=list)

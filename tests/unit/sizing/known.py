"""A run's profile made by hand, so that what is predicted from it can be reckoned by hand."""

from dataclasses import replace
from math import log
from typing import Any

from plimsoll.sizing.caps import Caps
from plimsoll.sizing.measured import Profile
from plimsoll.sizing.predict import Calibrated
from plimsoll.sizing.queueing import Guess, Tail, Trend

CAPS = Caps(
    volume="io1",
    iops=1000,
    mib_s=500,
    base_latency_us=700,
    processors=2,
    memory_gib=8,
    pool_bytes=None,
    family="m5",
)


def always(value: float, spread: float = 0.0) -> Trend:
    """Make a trend that does not change with the load."""
    return Trend(0.0, (0.0, log(value)), spread, 1, 64)


# 2 I/Os of 32 KiB in all, 1 ms of a processor, 4 ms alone of which 3 ms wait for the log; each
# latency is the mean time of all.
PROFILE = Profile(
    own=CAPS,
    whole_machine=False,
    alone_s=0.004,
    pages_s=Guess.sure(0.0),
    log_s=Guess.sure(0.003),
    ios=always(2),
    read_share=0.0,
    log_share=0.0,
    mib=always(1 / 32),
    server_cpu_s=always(0.001),
    machine_cpu_s=None,
    tails={"read": Tail(((1.0, 1.0), (2.0, 2.0)))},
    tails_under_way={},
    pool=None,
)
KNOWN = Calibrated(PROFILE)


def known(**changes: Any) -> Calibrated:
    """The same with other figures."""
    return Calibrated(replace(PROFILE, **changes))


def caps(**changes: Any) -> Caps:
    """Those of the run with others."""
    return CAPS.model_copy(update=changes)

"""MySQL and MariaDB: what `plimsoll.families.family.Family` asks for."""

from plimsoll.families.mysql.counters import (
    read_counters,
    server_figures,
    signs_of_limits,
    storage_rates,
    unfinished_work,
    waits,
)
from plimsoll.families.mysql.datasets import open_datasets
from plimsoll.families.mysql.grants import make_load_user
from plimsoll.families.mysql.parameters import read_parameters
from plimsoll.families.mysql.settling import settle
from plimsoll.model.engine import EngineTarget

__all__ = [
    "await_ready",
    "make_load_user",
    "open_datasets",
    "read_counters",
    "read_parameters",
    "server_figures",
    "settle",
    "signs_of_limits",
    "storage_rates",
    "unfinished_work",
    "waits",
]


def await_ready(target: EngineTarget) -> None:
    """Wait for nothing: a server that is there serves."""

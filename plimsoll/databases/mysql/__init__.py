"""MySQL and MariaDB: implements `plimsoll.databases.family.Family`."""

from plimsoll.databases.mysql.counters import (
    find_unfinished_work,
    read_counters,
    server_figures,
    signs_of_limits,
    storage_rates,
    waits,
    write_debt,
)
from plimsoll.databases.mysql.datasets import open_datasets
from plimsoll.databases.mysql.session import find_pooler, make_load_user, read_parameters
from plimsoll.databases.mysql.watching import settle
from plimsoll.model.engine.asked import EngineTarget

__all__ = [
    "await_ready",
    "find_pooler",
    "find_unfinished_work",
    "make_load_user",
    "open_datasets",
    "read_counters",
    "read_parameters",
    "server_figures",
    "settle",
    "signs_of_limits",
    "storage_rates",
    "waits",
    "write_debt",
]


def await_ready(target: EngineTarget) -> None:
    """Do nothing: a server that has started is ready."""

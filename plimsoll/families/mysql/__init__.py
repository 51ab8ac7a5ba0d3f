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
from plimsoll.families.mysql.settling import settle
from plimsoll.families.mysql.watching import open_watcher

FULL = frozenset({"1040", "1203", "1226"})
"""Of all connections, of the user's by the server's limit, of the user's by its account's.

dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
"""

__all__ = [
    "FULL",
    "make_load_user",
    "open_datasets",
    "open_watcher",
    "read_counters",
    "server_figures",
    "settle",
    "signs_of_limits",
    "storage_rates",
    "unfinished_work",
    "waits",
]

"""What a MariaDB server of one machine is started with."""

import os

from plimsoll.local.databases.mariadb_server import DEFAULT_SETTINGS

TASKS_PER_CORE = 2  # of the pool in which purge and the ends of page writes run


def test_purge_leaves_room_for_the_ends_of_page_writes() -> None:
    """Its threads, and the task that frees its history, wait for pages that are being written."""
    purging = int(DEFAULT_SETTINGS["innodb_purge_threads"]) + 1
    assert purging <= TASKS_PER_CORE * len(os.sched_getaffinity(0))

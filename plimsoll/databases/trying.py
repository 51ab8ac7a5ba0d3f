"""Tries derived statements on a server, on temporary tables that its session alone sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.derive.making import Trial


@contextmanager
def open_trial(target: EngineTarget) -> Iterator[Trial]:
    """Connect to a database to have it prepare statements.

    The tables are temporary, and hidden from other sessions. They are gone after the `with`.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    match target.protocol:
        case "mysql":
            from plimsoll.databases.mysql.trial import open_mysql_trial  # noqa: PLC0415 - a driver

            with open_mysql_trial(target) as on_mysql:
                yield on_mysql
        case "postgres":
            from plimsoll.databases.postgres.trial import open_postgres_trial  # noqa: PLC0415 - a driver

            with open_postgres_trial(target) as on_postgres:
                yield on_postgres
        case "cql":
            raise ValueError(target.protocol)  # no workload is derived from Cassandra
        case _:
            assert_never(target.protocol)

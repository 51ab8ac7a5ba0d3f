"""Finds a connection pooler before a PostgreSQL, such as PgBouncer."""

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.poolers import Pooler
from plimsoll.databases.postgres.session import connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget


def find_pooler(target: EngineTarget) -> Pooler | None:
    """Return the pooler before a PostgreSQL; None if there is none, or it cannot be asked.

    Raises:
        PlimsollError: The server is unreachable or refuses the login.
    """
    wanted = dict(target.session_settings)
    with use_connection(connect(target)) as connection:
        try:
            if not connection.pooled:
                return None
            asked = ", ".join(f"current_setting('{name}')" for name in wanted)
            (seen,) = execute(connection, f"SELECT {asked}") if wanted else ((),)
            has = dict(zip(wanted, map(str, seen), strict=True))
        except (PlimsollError, TypeError, ValueError):
            return None
    return Pooler(None, {name: value for name, value in has.items() if value != wanted[name]})

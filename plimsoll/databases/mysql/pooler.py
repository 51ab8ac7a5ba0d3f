"""Finds a proxy before a MySQL or MariaDB, such as ProxySQL or MaxScale."""

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.poolers import Pooler
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget


def find_pooler(target: EngineTarget) -> Pooler | None:
    """Return the proxy before a MySQL or MariaDB; None if there is none, or it cannot be asked.

    Nothing is SET on its session.

    Raises:
        PlimsollError: The server is unreachable or refuses the login.
    """
    wanted = dict(target.session_settings)
    with use_connection(connect(target.model_copy(update={"session_settings": ()}))) as connection:
        try:
            # ProxySQL answers a plain `SELECT CONNECTION_ID()` itself
            ((number,),) = execute(connection, "SELECT CONNECTION_ID() + 0")
            if int(number) == connection.greeted_as:
                return None
            ((comment,),) = execute(connection, "SELECT @@version_comment LIMIT 1")
            asked = ", ".join(f"@@{name}" for name in wanted)
            (seen,) = execute(connection, f"SELECT {asked}") if wanted else ((),)
            has = dict(zip(wanted, map(str, seen), strict=True))
        except (PlimsollError, TypeError, ValueError):
            return None
    differs = {name: value for name, value in has.items() if not _agrees(value, wanted[name])}
    return Pooler("ProxySQL" if "ProxySQL" in str(comment) else None, differs)


def _agrees(value: str, wanted: str) -> bool:
    """Return whether a variable has the value of an expression; the order of a mode is free."""
    return set(value.upper().split(",")) == set(wanted.strip("'").upper().split(","))

"""The engine parameters of a MySQL or MariaDB server, as it has them."""

from collections.abc import Sequence
from contextlib import closing

from plimsoll.errors import PlimsollError
from plimsoll.families.mysql.session import connect, execute
from plimsoll.model.engine import EngineTarget


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Read engine parameters; without those that the server does not know, or where it is away."""
    places = ", ".join(["%s"] * len(names))
    asked = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({places})"
    try:
        with closing(connect(target)) as connection:
            rows = execute(connection, asked, tuple(names))
    except PlimsollError:
        return {}
    return {str(name): str(value) for name, value in rows}

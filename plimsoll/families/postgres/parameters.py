"""The engine parameters of a PostgreSQL server, as it has them."""

from collections.abc import Sequence
from contextlib import closing

from plimsoll.errors import PlimsollError
from plimsoll.families.postgres.session import connect, execute
from plimsoll.model.engine import EngineTarget

_ASKED = "SELECT name, current_setting(name) FROM pg_settings"


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Read engine parameters; without those that the server does not know, or where it is away."""
    try:
        with closing(connect(target)) as connection:
            rows = execute(connection, _ASKED)
    except PlimsollError:
        return {}
    return {str(name): str(value) for name, value in rows if name in names}

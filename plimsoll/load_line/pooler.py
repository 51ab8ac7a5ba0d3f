"""Adapts a load to a connection pooler or proxy that answers at the database's address."""

from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget

# Settings without which a load is measured wrongly, and why.
_NEEDED = {
    "autocommit": "no update of a load would be committed",
    "completion_type": "a COMMIT would begin another transaction",
    "standard_conforming_strings": "texts would mean something else",
}


def adapt_to_pooler(target: EngineTarget) -> tuple[EngineTarget, tuple[str, ...]]:
    """Return the target as it can be loaded through what answers there, with notes for the reader.

    Through a pooler in transaction mode, what is SET stays on other users' connections. So nothing
    is: PostgreSQL's poolers keep what a client asks for at its login, and of MySQL's the settings
    are read.

    Raises:
        PlimsollError: The server is unreachable or refuses, or the sessions behind a pooler have a
            setting with which a load would be measured wrongly.
    """
    pooler = find_family(target.protocol).find_pooler(target)
    if pooler is None:
        return target, ()
    place = f"{target.host}:{target.port}"
    name = pooler.name or "a connection pooler or proxy"
    for setting, why in _NEEDED.items():
        if setting in pooler.differs:
            raise PlimsollError(
                f"{place} is {name}, whose sessions have {setting} = {pooler.differs[setting]}:"
                f" {why}, and nothing is SET through a pooler; change it on the server, or load the"
                " server itself"
            )
    wanted = dict(target.session_settings)
    notes = [
        f"{place} is {name}: the figures are of both together, and nothing is SET on its sessions"
    ]
    notes += [
        f"its sessions have {setting} = {value}; on the server itself Plimsoll sets"
        f" {wanted[setting]}"
        for setting, value in pooler.differs.items()
    ]
    if target.protocol == "mysql":
        return target.model_copy(update={"session_settings": ()}), tuple(notes)
    if target.statement_mode == "prepared":
        notes.append(
            "in session mode each connection of a load needs a session of its pool: with more"
            " connections than that (PgBouncer's default_pool_size) logins do not end in time"
        )
        notes.append(
            "if it loses prepared statements, as in transaction mode, add ?statement_mode=simple to"
            " the DSN (PgBouncer 1.21 and later keeps them with max_prepared_statements above 0)"
        )
    return target, tuple(notes)

"""Says when an existing database answers a COMMIT before the COMMIT is on the storage."""

from contextlib import suppress

from plimsoll import words
from plimsoll.databases.family import find_family
from plimsoll.databases.postgres.datasets import TEMPORARY, UNLOGGED
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.written_tables import find_made_tables, list_written_tables

# Settings, and the values with which a COMMIT does not wait for the storage
_EARLY = {
    "innodb_flush_log_at_trx_commit": ("0", "2"),
    "synchronous_commit": ("off",),
    "fsync": ("off",),
}


def note_durability(target: EngineTarget) -> tuple[str, ...]:
    """Return a note if a COMMIT of the load's account does not wait for the storage.

    The settings are those of a session of the account: in PostgreSQL, ALTER ROLE and ALTER DATABASE
    may give it its own. Cassandra flushes its log by the clock by default, which is no news.
    """
    if target.protocol == "cql":
        return ()
    read = find_family(target.protocol).read_parameters(target, [*_EARLY])
    early = [f"{name} = {value}" for name, value in read.items() if value in _EARLY.get(name, ())]
    told = (
        f"COMMITs do not wait for the storage ({', '.join(early)}): a crash loses the last of them,"
        " and a server whose COMMITs wait is slower"
    )
    return (told,) if early else ()


def note_tables(target: EngineTarget, compiled: Compiled) -> tuple[str, ...]:
    """Return a note for each kind of table that a workload writes and whose writes do not wait.

    A server that does not tell it is no reason to refuse a load.
    """
    written = list_written_tables(compiled)
    if not written:
        return ()
    told: dict[str, str] = {}
    with suppress(PlimsollError), find_family(target.protocol).open_datasets(target) as datasets:
        told = datasets.describe_early_writes(written)
    made = find_made_tables(compiled)
    told |= {name: TEMPORARY if made[name] else UNLOGGED for name in written if name in made}
    named: dict[str, list[str]] = {}
    for name, reason in told.items():
        named.setdefault(reason, []).append(name)
    return tuple(f"{words.join_names(names)}: {reason}" for reason, names in named.items())

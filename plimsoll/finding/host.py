"""How far this machine was disturbed in a step: a busy machine is no knee."""

import os
import socket
from dataclasses import dataclass

from plimsoll.machine import CpuTimes, cpu_times, listeners, program, shares
from plimsoll.model.engine import EngineTarget
from plimsoll.model.results import FleetFigures
from plimsoll.model.tls import is_loopback

SERVERS = {"mysqld", "mariadbd", "java"}


def _is_this_machine(host: str) -> bool:
    """Whether an address is one of this machine's own: then a socket can be bound to it."""
    if is_loopback(host):
        return True
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Host:
    """This machine as it was before a step.

    Attributes:
        shared: Whether the database is on it.
        ours: The processes of the search and of the database; empty: the database's are not shown.
        times: Its processor times.
    """

    shared: bool
    ours: frozenset[int]
    times: CpuTimes | None

    @classmethod
    def before(cls, target: EngineTarget) -> "Host":
        """Look at it."""
        shared = _is_this_machine(target.host)
        heard = listeners(target.port) if shared else set()
        # behind a container's port listens its proxy, which is not the server
        servers = {pid for pid in heard if program(pid) in SERVERS}
        ours = frozenset({os.getpid(), *servers} if servers or not shared else ())
        return cls(shared, ours, cpu_times(ours))

    def figures(self) -> dict[str, float | None]:
        """Give the fields of a step that say it, right after the step's load."""
        now = shares(self.times, cpu_times(self.ours))
        return {
            "host_stolen_percent": 100 * now.stolen if now else None,
            "host_others_percent": 100 * now.others if now and self.ours else None,
            "host_idle_percent": 100 * now.idle if now else None,
        }

    def waits(self, fleet: FleetFigures) -> dict[str, float | None]:
        """Give the field of a step that says how its clients waited for a processor.

        Where the database is on this machine too, they wait for the database that they load, which
        is no disturbance: what others had is.
        """
        return {"client_waiting_percent": None if self.shared else fleet.most_waiting_percent}

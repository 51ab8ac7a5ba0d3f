"""Telling whoever looks at a run of each second of its load: on one machine, and only if one does.

A datagram on the loopback interface: nothing waits for it, and what is lost is only shown later,
with the step's own figures. Where it goes stands in a file, which is there while somebody looks.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import Json

from plimsoll.model.base import Model
from plimsoll.model.engine_report import SecondReport
from plimsoll.model.fleet import StepPlan

VARIABLE = "PLIMSOLL_TELL_SECONDS"  # the path of the file; no deployment on AWS has it
FILE = "seconds-are-told-to.json"  # its name, in a twin's folder, which no other user can read
LONGEST_BYTES = 60_000  # of a datagram: a second of a hundred operations is half of it


class TellTo(Model):
    """What stands in the file."""

    port: int  # on 127.0.0.1
    key: str  # shows that a datagram comes from whoever could read the file


class Told(Model):
    """A datagram: one second of one client."""

    key: str
    run_id: str
    step: int
    start_at_epoch_ms: int  # of the step
    clients: int  # of the step
    client: int
    second: Json[tuple[SecondReport, ...]]  # by operation


@contextmanager
def telling(run_id: str, plan: StepPlan, client: int) -> Iterator[Callable[[str], None] | None]:
    """Give what takes each second of a load as the engine writes it; None: nobody looks."""
    to = _asked()
    if to is None:
        yield None
        return
    head = {
        "key": to.key,
        "run_id": run_id,
        "step": plan.index,
        "start_at_epoch_ms": plan.start_at_epoch_ms,
        "clients": plan.clients,
        "client": client,
    }
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("127.0.0.1", to.port))

        def tell(second: str) -> None:
            with suppress(OSError):
                out.send(json.dumps({**head, "second": second}).encode())

        yield tell


def _asked() -> TellTo | None:
    """Read who looks."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return None
    try:
        return TellTo.model_validate_json(Path(path).read_bytes())
    except (OSError, ValueError):
        return None

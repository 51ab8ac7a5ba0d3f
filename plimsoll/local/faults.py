"""Fault injection: stalls and errors of a target's volume, at the times that the request sets."""

import threading
import time

from plimsoll.local.twin import LocalTwin
from plimsoll.model.aws.volume_rules import Drain
from plimsoll.model.request.request import Fault, Request
from plimsoll.workflow.status import Snapshot


def list_faults(request: Request) -> tuple[Fault, ...]:
    """List a request's faults, including the credits for its first measured step."""
    share = request.credits_start_share
    if share is None:
        return request.faults
    return (Fault(step=1, volume=Drain(left_share=share)), *request.faults)


class Faults:
    """Injects each fault once, counted from the barrier of its step."""

    def __init__(self, twin: LocalTwin, faults: tuple[Fault, ...], *, identifier: str) -> None:
        self._twin = twin
        self._waiting = list(faults)
        self._identifier = identifier

    def look(self, now: Snapshot) -> None:
        """Start the timers of a step's faults once the step is planned."""
        if now.plan is None:
            return
        due = [fault for fault in self._waiting if fault.step == now.plan.index]
        for fault in due:
            self._waiting.remove(fault)
            moment_s = now.plan.start_at_epoch_ms / 1000 + fault.after_s
            timer = threading.Timer(max(0, moment_s - time.time()), self._inject, [fault])
            timer.daemon = True
            timer.start()

    def _inject(self, fault: Fault) -> None:
        database = self._twin.databases.get(self._identifier)
        if database is not None:  # otherwise the run has ended, and its volume is gone
            with database.volume as volume:
                volume.inject(fault.volume)

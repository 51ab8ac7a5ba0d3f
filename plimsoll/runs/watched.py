"""Looking at the target while a client's load is under way."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.errors import PlimsollError
from plimsoll.families.watching import Watcher, open_watcher
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import ServerLook, StepPlan

LOOKS = 20  # in a window, as a rule
EVERY_LEAST_S = 0.2
EVERY_MOST_S = 5.0
LEAVE_S = 1.0  # a look that takes longer at the end is not waited for


@contextmanager
def watched(target: EngineTarget, plan: StepPlan) -> Iterator[list[ServerLook]]:
    """Look at a target within a step's window, beside what is done in the `with`.

    The connection is opened when the window begins, so that it takes no load's place. A target that
    refuses it, or does not answer, is not looked at: the load is what matters.

    Returns:
        What was seen; complete at the end of the `with`. A look that the server does not answer is
        cut off then.
    """
    looks: list[ServerLook] = []
    watchers: list[Watcher] = []
    ended = threading.Event()
    arguments = (target, plan, looks, watchers, ended)
    thread = threading.Thread(target=_look, args=arguments, daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ended.set()
        thread.join(LEAVE_S)
        for watcher in watchers if thread.is_alive() else ():
            watcher.cut_off()
        thread.join(LEAVE_S)


def _look(
    target: EngineTarget,
    plan: StepPlan,
    looks: list[ServerLook],
    watchers: list[Watcher],
    ended: threading.Event,
) -> None:
    every_s = min(max(plan.duration_s / LOOKS, EVERY_LEAST_S), EVERY_MOST_S)
    if ended.wait(max(0.0, plan.window_start_epoch_ms / 1000 - time.time())):
        return
    try:
        watcher = open_watcher(target)
        if watcher is None:
            return
        with watcher as server:
            watchers.append(server)
            while time.time() * 1000 < plan.window_end_epoch_ms and not ended.is_set():
                looks.append(server.look())
                ended.wait(every_s)
    except PlimsollError:
        return

"""Fills a server's log before a step's window, so that the window measures no loan of the log.

The load that fills it is the step's own workload with more connections. It ends when the step's
own load begins, since a log drains within seconds without load. Progress is reported every few
seconds.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from math import inf

import plimsoll_engine
from plimsoll import words
from plimsoll.capacity.steps.debt import TimedDebt, is_filled
from plimsoll.databases.watching import Watcher, open_watcher
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import ClosedLoop, EngineWorkload, LoadSpec
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.run.fleet import StepPlan

EVERY_S = 0.2  # between two readings of the write debt
TOLD_EVERY_S = 5.0
LEAVE_S = 1.0  # a last reading that takes longer is cut off
OPENING_STATEMENTS = 4  # that open a connection
LOOK_STATEMENTS = 2  # that one look at the server sends
SPARE_S = 3600.0  # the load is cut off when it is told to end, long before its own end


def make_fill_spec(spec: LoadSpec, workload: EngineWorkload, connections: int) -> LoadSpec:
    """Return the load that fills the log before a client's load.

    Args:
        spec: The client's load.
        workload: The same workload, numbered as a load of its own, so that it inserts other rows.
        connections: The number of connections, where the client has fewer.
    """
    return spec.model_copy(
        update={
            "workload": workload,
            "connections": max(spec.connections, connections),
            "loop": ClosedLoop(),
            "warmup_s": 0.0,
            "operations_limit": None,
            "client_index": 0,
            "client_count": 1,
            "start_at_epoch_ms": None,
        }
    )


@contextmanager
def fill_before(plan: StepPlan, spec: LoadSpec, workload: EngineWorkload) -> Iterator["LogFilling"]:
    """Fill the log before a step's barrier, while the body of the `with` sends its load.

    Args:
        plan: The step.
        spec: The load of the client that fills.
        workload: The step's workload, numbered for the load that fills.
    """
    filling = LogFilling(make_fill_spec(spec, workload, plan.fill_connections), plan.fill_s)
    filling.end_at(plan.start_at_epoch_ms / 1000)
    filling.start()
    try:
        yield filling
    finally:
        filling.end_at(0.0)
        filling.join()


class LogFilling:
    """Load that fills a server's log, and keeps it filled until it is told to end.

    Attributes:
        filled: Event that says that nothing more is gained: the log is filled, or cannot be.
        statements_sent: The statements of operations, sent so far by loads that have ended.
        other_statements: Likewise, those of transactions and connections, and of the readings.
    """

    def __init__(
        self, spec: LoadSpec, longest_s: float, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Prepare the load.

        Args:
            spec: The load that fills.
            longest_s: The time after which it counts as filled as far as possible.
            tell: Called every few seconds with the progress.
        """
        self.filled = threading.Event()
        self.statements_sent = self.other_statements = 0
        self._spec, self._longest_s, self._tell = spec, longest_s, tell
        self._ends_s = inf
        self._succeeded = 0  # operations
        self._server: Watcher | None = None
        self._load: threading.Thread | None = None
        self._token: plimsoll_engine.CancelToken | None = None
        self._thread = threading.Thread(target=self._fill, daemon=True)

    def start(self) -> None:
        """Begin to fill; if the end is known already, as long before it as the filling may last."""
        self._thread.start()

    def end_at(self, epoch_s: float) -> None:
        """End the load at a time, in seconds of the epoch."""
        self._ends_s = epoch_s

    def join(self) -> int:
        """Wait until the load has ended; return the number of statements that it sent.

        A reading that the server has not answered by then is cut off.
        """
        left_s = max(0.0, self._ends_s - time.time()) + LEAVE_S
        self._thread.join(min(left_s, threading.TIMEOUT_MAX))
        if self._thread.is_alive() and self._server is not None:
            self._server.cut_off()
        self._thread.join()
        return self.statements_sent

    def _fill(self) -> None:
        if self._ends_s < inf:
            time.sleep(max(0.0, self._ends_s - self._longest_s - time.time()))
        try:
            with open_watcher(self._spec.target) or nullcontext() as server:
                if server is None:
                    return
                self._server = server
                self._keep_full(lambda: server.look().debt)
        except PlimsollError:
            return
        finally:
            self._stop_load()
            self.filled.set()

    def _keep_full(self, read: Callable[[], WriteDebt | None]) -> None:
        began_s, told_s = time.monotonic(), time.monotonic()
        readings: list[TimedDebt] = []
        while time.time() < self._ends_s:
            debt = read()
            self.other_statements += LOOK_STATEMENTS
            if debt is None:
                return
            now_s = time.monotonic()
            readings.append(TimedDebt(now_s, debt))
            full = is_filled(readings[-1:])
            speed = self._succeeded / (now_s - began_s) if now_s > began_s else None
            if full or is_filled(readings, speed) or now_s - began_s >= self._longest_s:
                self.filled.set()
            if full:
                self._stop_load()
            elif not self._start_load():
                return
            if now_s - told_s >= TOLD_EVERY_S:
                told_s = now_s
                self._tell(self._describe(debt, now_s - began_s))
            left_s = self._ends_s - time.time()
            time.sleep(max(0.0, min(EVERY_S, left_s)))

    def _describe(self, debt: WriteDebt, passed_s: float) -> str:
        share = words.format_percent(debt.owed_bytes / debt.limit_bytes)
        return (
            f"the log fills before the window: {share} of it"
            f" ({words.format_duration(round(passed_s))} so far,"
            f" {words.format_duration(round(self._longest_s))} at most)"
        )

    def _start_load(self) -> bool:
        """Start the load unless it runs; False if it has ended by itself: the server refuses it."""
        if self._load is not None:
            return self._load.is_alive()
        self._token = plimsoll_engine.CancelToken()
        self._load = threading.Thread(target=self._send, args=(self._token,), daemon=True)
        self._load.start()
        return True

    def _send(self, token: plimsoll_engine.CancelToken) -> None:
        spec = self._spec.model_copy(update={"duration_s": self._longest_s + SPARE_S})
        with suppress(plimsoll_engine.EngineError):
            report = json.loads(plimsoll_engine.run(spec.model_dump_json(), self._count, token))
            self.statements_sent += report["statements_sent"]
            self.other_statements += report["transaction_commands_sent"]
            self.other_statements += OPENING_STATEMENTS * report["connection_report"]["opened"]

    def _count(self, second: str) -> None:
        self._succeeded += sum(each["succeeded"] for each in json.loads(second))

    def _stop_load(self) -> None:
        if self._load is not None and self._token is not None:
            self._token.cancel()
            self._load.join()
        self._load = self._token = None

"""Seconds of the step under way, as its clients tell them one by one. Pure but for its lock."""

import threading
from collections.abc import Mapping, Sequence

from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.service.live import LiveSecond, LiveSecondOperation
from plimsoll.report.charts.clock import added, percentile_us


class ToldSeconds:
    """Adds up what the clients of one step tell; each reader takes what is new to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step = self._clients = self._start_epoch_s = 0
        self._told: dict[int, dict[int, Sequence[SecondReport]]] = {}  # by second, by client

    def add(
        self,
        step: int,
        client: int,
        second: Sequence[SecondReport],
        *,
        start_at_epoch_ms: int,
        clients: int,
    ) -> None:
        """Take a second of one client; another step than before begins anew.

        Args:
            step: Its number.
            client: Its number in the step.
            second: What it did, by operation; empty: nothing.
            start_at_epoch_ms: When the step's load begins, from which seconds count.
            clients: Of the step.
        """
        if not second:
            return
        with self._lock:
            if (step, start_at_epoch_ms // 1000) != (self._step, self._start_epoch_s):
                self._step, self._start_epoch_s = step, start_at_epoch_ms // 1000
                self._clients, self._told = clients, {}
            self._told.setdefault(second[0].second, {})[client] = tuple(second)

    def since(self, known: Mapping[tuple[int, int], int]) -> list[LiveSecond]:
        """Give the seconds that more clients have told than a reader knows.

        Args:
            known: By step and second of the epoch: how many clients had told it.
        """
        with self._lock:
            return [
                self._second(number, list(told.values()))
                for number, told in sorted(self._told.items())
                if known.get((self._step, self._start_epoch_s + number), 0) < len(told)
            ]

    def _second(self, number: int, told: Sequence[Sequence[SecondReport]]) -> LiveSecond:
        parts = [part for parts in told for part in parts]
        names = sorted({part.operation for part in parts})
        return LiveSecond(
            step=self._step,
            epoch_s=self._start_epoch_s + number,
            clients=self._clients,
            clients_told=len(told),
            operations={
                name: _operation([part for part in parts if part.operation == name])
                for name in names
            },
        )


class SecondsReader:
    """One reader of them."""

    def __init__(self, told: ToldSeconds) -> None:
        self._told = told
        self._known: dict[tuple[int, int], int] = {}

    def __call__(self) -> list[LiveSecond]:
        """Give what is new since the last call."""
        new = self._told.since(self._known)
        if new and any(step != new[0].step for step, _ in self._known):
            self._known = {}
        self._known |= {(one.step, one.epoch_s): one.clients_told for one in new}
        return new


def _operation(parts: Sequence[SecondReport]) -> LiveSecondOperation:
    return LiveSecondOperation(
        succeeded=sum(part.succeeded for part in parts),
        errors=sum(part.errors for part in parts),
        p99_us=percentile_us(added(part.buckets for part in parts), 0.99),
    )

"""Seconds of the current step, as its clients report them one by one."""

import threading
from collections.abc import Mapping, Sequence

from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.histograms import find_percentile_us, merge_histograms
from plimsoll.model.service.live import LiveSecond, LiveSecondOperation


class ToldSeconds:
    """Adds up the seconds of one step's clients; each reader gets what is new to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step = self._clients = self._start_epoch_s = 0
        # keyed by second, then by client
        self._told: dict[int, dict[int, Sequence[SecondReport]]] = {}

    def add(
        self,
        step: int,
        client: int,
        second: Sequence[SecondReport],
        *,
        start_at_epoch_ms: int,
        clients: int,
    ) -> None:
        """Add a second of one client. A new step starts over.

        Args:
            step: The number of the step.
            client: The number of the client within the step.
            second: The reports of the second, by operation; empty if nothing happened.
            start_at_epoch_ms: The beginning of the step's load, from which seconds count.
            clients: The number of clients of the step.
        """
        if not second:
            return
        with self._lock:
            if (step, start_at_epoch_ms // 1000) != (self._step, self._start_epoch_s):
                self._step, self._start_epoch_s = step, start_at_epoch_ms // 1000
                self._clients, self._told = clients, {}
            self._told.setdefault(second[0].second, {})[client] = tuple(second)

    def since(self, known: Mapping[tuple[int, int], int]) -> list[LiveSecond]:
        """Return the seconds that more clients have reported than a reader knows.

        Args:
            known: The number of clients that had reported, by step and second of the epoch.
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
                name: _sum_operation([part for part in parts if part.operation == name])
                for name in names
            },
        )


class SecondsReader:
    """One reader of the reported seconds."""

    def __init__(self, told: ToldSeconds) -> None:
        self._told = told
        self._known: dict[tuple[int, int], int] = {}

    def __call__(self) -> list[LiveSecond]:
        """Return what is new since the last call."""
        new = self._told.since(self._known)
        if new and any(step != new[0].step for step, _ in self._known):
            self._known = {}
        self._known |= {(one.step, one.epoch_s): one.clients_told for one in new}
        return new


def _sum_operation(parts: Sequence[SecondReport]) -> LiveSecondOperation:
    return LiveSecondOperation(
        succeeded=sum(part.succeeded for part in parts),
        errors=sum(part.errors for part in parts),
        p99_us=find_percentile_us(merge_histograms(part.buckets for part in parts), 0.99),
    )

"""Stolen processor time is a share of all of it, between two moments."""

from pathlib import Path

import pytest

from plimsoll.local import machine
from plimsoll.local.machine import CpuTimes, cpu_times, stolen_share


def test_the_kernels_line_is_read_without_the_guests_time_that_users_holds_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 10 50 800 20 1 4 15 90 9\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    monkeypatch.setattr(machine, "_STAT", stat)
    assert cpu_times() == CpuTimes(total=1000, stolen=15)


def test_a_system_without_the_kernels_figures_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_STAT", tmp_path / "none")
    assert cpu_times() is None


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        (CpuTimes(1000, 15), CpuTimes(1200, 45), 0.15),
        (CpuTimes(1000, 15), CpuTimes(1200, 15), 0.0),
        (CpuTimes(1000, 15), CpuTimes(1000, 15), None),
        (None, CpuTimes(1000, 15), None),
        (CpuTimes(1000, 15), None, None),
    ],
)
def test_share(before: CpuTimes | None, after: CpuTimes | None, share: float | None) -> None:
    assert stolen_share(before, after) == (None if share is None else pytest.approx(share))

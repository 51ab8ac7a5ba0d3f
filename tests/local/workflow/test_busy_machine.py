"""A machine that others keep busy gives no verdict on a database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.model.run.results import RunResult
from tests.local.workflow.conftest import PATIENCE_S
from tests.local.workflow.test_run_verb import await_line, left_of, request_file, run_here

BUSY_AT_MOST_S = 120
LOOP = f"""
import os, time
os.nice(19)
until = time.monotonic() + {BUSY_AT_MOST_S}
while time.monotonic() < until: pass
"""


@contextmanager
def busy_loops() -> Iterator[None]:
    """One for each processor, none of them below the run's command.

    They take only what nobody else wants: other tests, which count as well, are not slowed.
    """
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.whole
def test_a_run_beside_busy_loops_says_that_the_machine_was_busy(tmp_path: Path) -> None:
    """It tries again, since others' work passes, and ends without an answer: exit code 3."""
    request = request_file(
        tmp_path,
        load__duration_s=3,
        load__calm_max_s=3,
        limits__audits_off=[],
        search={"strategy": "steps", "clients": [1, 2], "probes_max": 2},
    )
    out = tmp_path / "out"
    with busy_loops():
        process = run_here(tmp_path, request, out)
        await_line(process, "waiting, this machine was busy: ")
        await_line(process, "step 1: 1 client")
        await_line(process, "step 2: 1 client")  # tried again
        await_line(process, "teardown: ")
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3, stderr
    result = RunResult.model_validate_json((out / "result.json").read_bytes())
    assert result.failure is None
    assert result.capacity is not None
    assert result.capacity.verdict == "DISTURBED"
    assert result.capacity.max_sustainable_throughput_ops_per_second is None
    assert [step.plan.clients for step in result.steps] == [1, 1]
    told = " ".join(stdout.split())
    assert "this machine was busy: " in told
    assert "other processes used " in told
    assert stdout.splitlines()[-1].startswith("Try again on a calm machine: plimsoll run ")
    assert left_of(tmp_path) == []

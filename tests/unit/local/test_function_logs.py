"""What is noted of an invocation never holds it up."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.local.lambdas.invocation import Invocation, InvocationAnswer
from plimsoll.local.lambdas.logs import FunctionLogs
from plimsoll.local.lambdas.nursery import LogFile


def test_each_start_and_end_is_a_line(tmp_path: Path) -> None:
    logs = FunctionLogs(tmp_path / "logs")
    invocation = Invocation("arn", b"{}", 1.0, answer=InvocationAnswer(b"no", failed=True))
    logs.log_start("load-client", invocation, 0)
    logs.log_end("load-client", invocation, 0, 0.25)
    start, end = logs.file("load-client").read_text().splitlines()
    assert start == f"START RequestId: {invocation.request_id} pid: 0"
    assert end.startswith(f"REPORT RequestId: {invocation.request_id} Duration: 250 ms")
    assert end.endswith("Error: no")


def test_a_full_disk_costs_a_line_and_not_the_invocation(tmp_path: Path) -> None:
    logs = FunctionLogs(tmp_path / "logs")
    logs.file("load-client").symlink_to("/dev/full")
    logs.log_start("load-client", Invocation("arn", b"{}", 1.0), 0)


def test_a_log_without_room_loses_its_line_and_fails_no_function() -> None:
    with LogFile("/dev/full", "w") as log:
        assert log.write(b"what was said") == 13


def test_a_log_as_long_as_a_file_may_be_loses_its_lines_and_fails_no_function(
    tmp_path: Path,
) -> None:
    program = (
        "import sys\nfrom plimsoll.local.lambdas.nursery import LogFile\n"
        "with LogFile(sys.argv[1], 'w') as log: print([log.write(bytes(1024)) for _ in range(3)])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "log")],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
    )
    assert ran.stdout == "[1024, 1024, 1024]\n"


def test_another_error_of_a_log_is_told(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with (
        LogFile(tmp_path / "log", "r") as log,
        pytest.raises(OSError, match="not open for writing"),
    ):
        log.write(b"what was said")

"""A limit of the system that ends a command is named, and its value."""

import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.process_limits import (
    describe_reached_limit,
    describe_system_error,
    name_limit_in,
    name_low_limits,
)
from plimsoll.requests import experiment_file
from tests.support.synthetic_run import synthetic_run

ROOT = Path(__file__).parents[2]
MIB = 2**20
PROCESSES = "this user may have 5,242,880 processes and threads at most (ulimit -u)"
MEMORY = "a process may have 5 MiB of memory at most (ulimit -v)"


class PanicError(BaseException):
    """What a panic of the engine is in Python."""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            OSError(errno.EFBIG, "File too large", "f"),
            "File too large: a file may have 5 MiB at most (ulimit -f)",
        ),
        (
            OSError(errno.EINVAL, "Invalid argument"),
            "Invalid argument: a file may have 5 MiB at most (ulimit -f)",
        ),
        (
            BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
            f"Resource temporarily unavailable: {PROCESSES}",
        ),
        (
            RuntimeError("can't start new thread"),
            f"no further thread can be started: {PROCESSES}; {MEMORY}",
        ),
        (
            PanicError("failed to spawn thread: Os { code: 11, kind: WouldBlock }"),
            f"no further thread can be started: {PROCESSES}; {MEMORY}",
        ),
        (
            ImportError("libx.so: failed to map segment from shared object"),
            "out of memory: a process may have 5 MiB of memory at most (ulimit -v)",
        ),
        (MemoryError(), "out of memory: a process may have 5 MiB of memory at most (ulimit -v)"),
        (
            OSError(errno.ENOMEM, "Cannot allocate memory"),
            "Cannot allocate memory: a process may have 5 MiB of memory at most (ulimit -v)",
        ),
        (
            OSError(errno.EMFILE, "Too many open files"),
            "Too many open files: a process may have 5,242,880 open files at most (ulimit -n)",
        ),
        (OSError(errno.ENOENT, "No such file or directory"), "No such file or directory"),
        (
            shutil.Error([("a", "b", "No space left"), ("c", "d", "No space left")]),
            "No space left",
        ),
    ],
)
def test_a_limit_is_named_with_its_value(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, told: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5 * MIB, resource.RLIM_INFINITY))
    assert describe_system_error(error) == told


def test_what_is_not_limited_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    none = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: none)
    assert describe_system_error(MemoryError()) == "out of memory"
    assert describe_system_error(OSError(errno.EFBIG, "File too large")) == "File too large"


@pytest.mark.parametrize(
    ("low", "told"),
    [
        ({}, ""),
        ({resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_FSIZE: 2**40}, ""),
        ({resource.RLIMIT_NOFILE: 24}, "a process may have 24 open files at most (ulimit -n)"),
        (
            {resource.RLIMIT_FSIZE: 5 * MIB, resource.RLIMIT_AS: 5 * MIB},
            f"a file may have 5 MiB at most (ulimit -f); {MEMORY}",
        ),
    ],
)
def test_limits_that_a_run_may_meet_are_named_only_if_they_are_low(
    monkeypatch: pytest.MonkeyPatch, low: dict[int, int], told: str
) -> None:
    none = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (low.get(limit, none), none))
    assert name_low_limits() == told


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOENT, "No such file"), RuntimeError("a defect"), KeyError("x")]
)
def test_another_error_is_no_limit(error: Exception) -> None:
    assert describe_reached_limit(error) is None


def fail(error: BaseException) -> Callable[..., None]:
    def failing(*_: object) -> None:
        raise error

    return failing


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("can't start new thread"), "no further thread can be started"),
        (MemoryError(), "out of memory"),
        (PanicError("failed to spawn thread"), "no further thread can be started"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), "/x: No space left on device"),
    ],
)
def test_a_command_that_a_limit_ends_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    told: str,
) -> None:
    monkeypatch.setattr(experiment_file, "read_file", fail(error))
    with pytest.raises(SystemExit) as ended:
        main(["validate", "r.yaml"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith(f"plimsoll: {told}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("mib", [90, 150])
def test_too_little_memory_to_load_a_library_is_named(tmp_path: Path, mib: int) -> None:
    """Some libraries end the process themselves, so the limit is named before they are loaded."""
    (tmp_path / "result.json").write_text(synthetic_run()[0].model_dump_json())
    program = "import sys; from plimsoll.cli.main import main; main(sys.argv[1:])"
    ran = subprocess.run(
        [sys.executable, "-c", program, "show", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB)),
    )
    first, *_ = ran.stderr.splitlines()
    limit = f"a process may have {mib} MiB of memory at most (ulimit -v)"
    assert first == f"plimsoll: little memory: {limit}; some commands need 512"
    assert "Traceback" not in ran.stderr


WITHOUT_THREADS = """
from plimsoll.process_limits import describe_reached_limit
from tests.local.load.driving import drive, fake_target
try:
    drive(fake_target(1), connections=1, duration_s=1)
except BaseException as error:
    print(describe_reached_limit(error))
"""


def test_an_engine_that_gets_no_thread_leaves_it_to_the_command_to_say_so() -> None:
    """Each of its threads is to have a stack of 64 TiB, so the system gives it none."""
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS],
        cwd=ROOT,
        env={**os.environ, "RUST_MIN_STACK": str(2**46), "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("no further thread can be started")
    assert ran.stderr == ""


def test_what_the_engine_was_refused_is_named_with_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (14, resource.RLIM_INFINITY))
    told = "eventfd: Too many open files (os error 24)"
    limit = "a process may have 14 open files at most (ulimit -n)"
    assert name_limit_in(told) == f"{told}: {limit}"
    refused = "cannot connect to db:1: Connection refused (os error 111)"
    assert name_limit_in(refused) == refused


def test_a_defect_keeps_its_stack_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_file, "read_file", fail(RuntimeError("a defect")))
    with pytest.raises(RuntimeError, match="a defect"):
        main(["validate", "r.yaml"])


@pytest.mark.parametrize(
    ("limit", "mib", "work", "told"),
    [
        (
            resource.RLIMIT_FSIZE,
            1,
            "Path(sys.argv[1]).write_bytes(bytes(2**21))",
            "File too large: a file may have 1 MiB at most (ulimit -f)\n",
        ),
        (
            resource.RLIMIT_AS,
            1024,
            "bytes(2**31)",
            "out of memory: a process may have 1,024 MiB of memory at most (ulimit -v)\n",
        ),
    ],
)
def test_a_limit_of_the_system_itself_is_named(
    tmp_path: Path, limit: int, mib: int, work: str, told: str
) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from plimsoll.process_limits import describe_system_error\n"
        f"try: {work}\n"
        "except (OSError, MemoryError) as error: print(describe_system_error(error))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "file")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(limit, (mib * MIB, mib * MIB)),
    )
    assert ran.stdout == told

"""Files that a user names: what is read, up to which limit, and how a file is written."""

import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import yaml

from plimsoll import files
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.files import read_limited, write_whole
from tests.support.command import COMMAND
from tests.support.little_memory import little_memory
from tests.support.requested import REQUESTED

ROOT = Path(__file__).parents[2]
GIB = 2**30


@contextmanager
def written_into(pipe: Path, *pieces: bytes, closes: bool = True) -> Iterator[None]:
    """Write into a pipe from another thread, which ends at the latest when the reader does."""
    read = threading.Event()

    def write() -> None:
        with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as end:
            for piece in pieces:
                end.write(piece)
            if not closes:
                read.wait()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        read.set()
        os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # it may not have opened its end yet
        writer.join()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def run_apart(
    *arguments: str, first: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which calls `first` before."""
    return subprocess.run(
        arguments, cwd=ROOT, capture_output=True, text=True, check=False, preexec_fn=first
    )


# Reading.


def test_a_pipe_is_read_until_its_writer_closes_it(pipe: Path) -> None:
    long = b"x" * 300_000  # several times what a pipe holds
    with written_into(pipe, b"name: a\n", long):
        assert read_limited(pipe, bytes_max=400_000) == b"name: a\n" + long


def test_a_pipe_that_nobody_opens_for_writing_is_waited_for_and_then_refused(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIPE_PATIENCE_S", 0.1)
    with pytest.raises(UsageError) as error:
        read_limited(pipe, bytes_max=100)
    assert str(error.value) == f"{pipe}: nothing was written into this pipe for 0.1 s"


def test_a_pipe_whose_writer_falls_silent_is_refused(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIPE_PATIENCE_S", 0.5)
    with (
        written_into(pipe, b"name:", closes=False),
        pytest.raises(UsageError, match=r"nothing was written into this pipe for 0\.5 s$"),
    ):
        read_limited(pipe, bytes_max=100)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full", "/dev/urandom"])
def test_a_device_is_refused_whatever_it_gives(device: str) -> None:
    with little_memory(), pytest.raises(UsageError) as error:
        read_limited(Path(device), bytes_max=GIB)
    assert str(error.value) == f"{device}: is a device: allowed are files and pipes"


def test_a_folder_is_refused_and_nothing_stays_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(UsageError) as error:
        read_limited(tmp_path, bytes_max=100)
    assert str(error.value) == f"{tmp_path}: is a folder: allowed are files and pipes"
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_of_a_file_that_is_too_long_no_more_is_read(tmp_path: Path) -> None:
    with (tmp_path / "long").open("wb") as long:
        long.truncate(2**40)
    with little_memory(), pytest.raises(UsageError, match=r"long: longer than 1 MiB$"):
        read_limited(tmp_path / "long", bytes_max=2**20)
    with pytest.raises(UsageError, match=r"long: longer than 1,000 bytes$"):
        read_limited(tmp_path / "long", bytes_max=1000)


def test_of_a_pipe_that_does_not_end_no_more_is_read(pipe: Path) -> None:
    pieces = [bytes(2**16)] * 4096  # 256 MiB
    with (
        little_memory(),
        written_into(pipe, *pieces),
        pytest.raises(UsageError, match=r"pipe: longer than 1 MiB$"),
    ):
        read_limited(pipe, bytes_max=2**20)


def test_a_file_as_long_as_is_allowed_is_read(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"x" * 1000)
    assert len(read_limited(tmp_path / "full", bytes_max=1000)) == 1000


def test_a_link_that_leads_to_itself_is_not_read_and_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=r"loop: Too many levels of symbolic links$"):
        read_limited(tmp_path / "loop", bytes_max=100)
    write_whole(tmp_path / "loop", "whole")
    assert not (tmp_path / "loop").is_symlink()


def test_a_request_comes_through_a_pipe_of_the_shell_or_the_standard_input(tmp_path: Path) -> None:
    request = tmp_path / "r.yaml"
    request.write_text(yaml.safe_dump(REQUESTED))
    validate = f"{COMMAND[0]} -c '{COMMAND[2]}' validate --local"
    for call in (
        f"{validate} <(cat {request})",
        f"{validate} /dev/stdin <{request}",
        f"cat {request} | {validate} /dev/stdin",
    ):
        ran = run_apart("bash", "-c", call)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout.endswith("is valid: 1 run\n")


# Writing.


def test_a_new_file_is_its_owners_alone_and_a_replaced_one_keeps_its_mode(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("before, and longer")
    old.chmod(0o640)
    for path in (new, old):
        write_whole(path, "after")
        assert path.read_text() == "after"
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["new", "old"]


def test_a_name_may_be_as_long_as_the_system_lets_it(tmp_path: Path) -> None:
    write_whole(tmp_path / ("n" * 255), b"whole")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"whole"


def test_a_link_within_its_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "newest").symlink_to("run-1")
    write_whole(tmp_path / "newest", "whole")
    assert (tmp_path / "newest").is_symlink()
    assert (tmp_path / "run-1").read_text() == "whole"


def test_a_folder_that_is_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there")
    write_whole(tmp_path / "here" / "file", "whole")
    assert (tmp_path / "there" / "file").read_text() == "whole"


def make_link_out(place: Path) -> None:
    (place.parent / "elsewhere").mkdir()
    (place.parent / "elsewhere" / "kept").write_text("before")
    place.symlink_to("elsewhere/kept")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (make_link_out, "it is a link to {folder}/elsewhere/kept: name that file itself"),
        (lambda place: place.symlink_to("elsewhere/new"), "it is a link to {folder}/elsewhere/new"),
        (lambda place: place.symlink_to("/dev/null"), "it is a link to /dev/null"),
        (lambda place: place.mkdir(), "it is a folder, not a file"),
        (os.mkfifo, "it is a device or a pipe, not a file"),
    ],
)
def test_what_is_no_file_of_this_folder_is_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], problem: str
) -> None:
    place = tmp_path / "report.html"
    make(place)
    with pytest.raises(PlimsollError) as error:
        write_whole(place, "after")
    told = problem.format(folder=tmp_path.resolve())
    assert str(error.value).startswith(f"cannot write {place}: {told}")
    kept = tmp_path / "elsewhere" / "kept"
    assert not kept.exists() or kept.read_text() == "before"
    assert not (tmp_path / "elsewhere" / "new").exists()


def test_a_device_is_not_written() -> None:
    with pytest.raises(PlimsollError, match=r"^cannot write /dev/full: it is a device"):
        write_whole(Path("/dev/full"), "x")
    write_whole(Path("/dev/null"), "x")


WRITE = """
import sys
from pathlib import Path

from plimsoll.errors import PlimsollError
from plimsoll.files import write_whole

try:
    for path in sys.argv[1:]:
        write_whole(Path(path), "told" * 25_000 + "\\n")
except PlimsollError as error:
    sys.exit(str(error))
"""


def test_streams_are_written_as_they_are() -> None:
    call = f'{sys.executable} -c "$1" /dev/stdout /dev/stderr >(cat)'
    ran = run_apart("bash", "-c", call, "bash", WRITE)
    told = "told" * 25_000 + "\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, told + told, told)


def test_what_was_there_stays_where_the_new_file_does_not_fit(tmp_path: Path) -> None:
    old = tmp_path / "result.json"
    old.write_text("before")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))

    ran = run_apart(sys.executable, "-c", WRITE, str(old), first=limit)
    assert ran.returncode == 1
    assert ran.stderr == (
        f"cannot write {old}: File too large: a file may have 0.0625 MiB at most (ulimit -f)\n"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["result.json"]
    assert old.read_text() == "before"

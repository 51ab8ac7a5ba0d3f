"""What goes past the preloaded library is seen all the same, with its amount, and fails."""

import ctypes
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tests.local.volumes.conftest import VolumeFactory, run_on
from tests.support.command import COMMAND

EVENT = struct.Struct("iIII")  # inotify(7), of a file that is watched itself
WRITTEN, ONLY_READ = 0x08, 0x10  # how it was open that is now closed
TIMES = 300
AMOUNT = "300 reads and writes (1.17 MiB) bypassed the volume"


def volume_run(directory: Path, command: str) -> subprocess.CompletedProcess[str]:
    """`plimsoll volume run` of a shell's command, in the volume's directory."""
    volume = ("--type", "nvme", "--size-gib", "10", "--base-latency-us", "0")
    return subprocess.run(
        [
            *(*COMMAND, "volume", "run", *volume, "--dir", str(directory)),
            *("--", "sh", "-c", command),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
        timeout=60,
    )


@pytest.mark.parametrize("does", ["read", "write"])
@pytest.mark.parametrize(
    ("escape", "program"),
    [
        ("{programs}/dynamic stdio {does} file {times}", "dynamic"),
        ("env -i {programs}/dynamic plain {does} file {times}", "dynamic"),
        ("{programs}/static plain {does} file {times}; true", "static"),
        ("{programs}/dynamic raw {does} file {times}", "dynamic"),
    ],
    ids=["stdio", "without an environment", "a static child", "raw system calls"],
)
def test_each_escape_is_reported_with_its_amount_and_fails(
    tmp_path: Path, programs: Path, escape: str, program: str, does: str
) -> None:
    (tmp_path / "file").write_bytes(bytes(4096 * TIMES))
    done = volume_run(tmp_path, escape.format(programs=programs, does=does, times=TIMES))
    assert done.stderr.endswith(f"{AMOUNT}, 100 % of all I/O: {program}\n")
    assert done.returncode == 1


def test_the_exit_code_of_a_command_that_failed_by_itself_stays(
    tmp_path: Path, programs: Path
) -> None:
    done = volume_run(tmp_path, f"{programs}/static plain write file {TIMES}; exit 7")
    assert AMOUNT in done.stderr
    assert done.returncode == 7


def test_what_the_volume_holds_is_no_escape(tmp_path: Path, programs: Path) -> None:
    done = volume_run(tmp_path, f"{programs}/dynamic plain write file {TIMES}")
    assert "bypassed the volume" not in done.stderr
    assert done.returncode == 0


def test_one_in_a_hundred_is_told_and_no_more(tmp_path: Path, programs: Path) -> None:
    commands = f"{programs}/dynamic plain write file 300; {programs}/dynamic stdio write other 3"
    done = volume_run(tmp_path, commands)
    assert "3 reads and writes (0.01 MiB) bypassed the volume, 0.99 % of all" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("way", ["dynamic stdio", "dynamic raw", "static plain"])
def test_files_beside_the_volume_are_nobodys_business(
    volumes: VolumeFactory, tmp_path: Path, programs: Path, way: str
) -> None:
    volume = volumes()
    subprocess.run(
        ["sh", "-c", f"{programs}/{way} write {tmp_path}/beside 10; cat {tmp_path}/beside"],
        env={**os.environ, **volume.environment()},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert volume.sample().escapes == ()


def test_a_read_is_counted_as_far_as_the_file_goes(volumes: VolumeFactory, programs: Path) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(4096 + 100))
    program = "import subprocess; subprocess.run(['{}/static', 'plain', 'read', 'file', '2'])"
    run_on(volume, program.format(programs))
    (escape,) = volume.sample().escapes
    assert (escape.operations, escape.bytes) == (2, 4196)


def test_a_shared_library_that_is_loaded_is_no_data(volumes: VolumeFactory, programs: Path) -> None:
    volume = volumes()
    source = programs / "empty.c"
    source.write_text("int unused;\n")
    library = volume.directory / "library.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = run_on(volume, f"import ctypes; ctypes.CDLL('{library}')")
    assert done.returncode == 0, done.stderr
    assert (volume.sample().escapes, volume.sample().uncounted_maps) == ((), 0)


def test_writes_count_whatever_the_head_of_their_file(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(b"\177ELF" + bytes(4092))
    writes = "env -i dd if=/dev/zero of=file bs=4096 seek=1 count=10 conv=notrunc"
    run_on(volume, f"import os; os.system('{writes}')")
    (escape,) = volume.sample().escapes
    assert (escape.operations, escape.bytes) == (10, 40_960)


def test_the_watcher_opens_no_fifo(volumes: VolumeFactory) -> None:
    """To open one is to be its reader: whoever waits for one to write to would go on."""
    volume = volumes()
    fifo = volume.directory / "fifo"
    os.mkfifo(fifo)
    libc = ctypes.CDLL(None)
    events = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(events, os.fsencode(fifo), ONLY_READ | WRITTEN) >= 0
    run_on(volume, "import os; os.system('exec env -i sh -c \"echo word 1<>fifo\"')")
    closed = [mask for _, mask, _, _ in EVENT.iter_unpack(os.read(events, 4096))]
    os.close(events)
    assert closed == [WRITTEN], "by the shell alone"


def test_the_eighth_program_stands_for_all_others(volumes: VolumeFactory, programs: Path) -> None:
    volume = volumes()
    for number in range(9):
        shutil.copy(programs / "static", programs / f"program-{number}")
    escapes = "; ".join(f"{programs}/program-{n} plain write file 1" for n in range(9))
    run_on(volume, f"import os; os.system('{escapes}')")
    named = {escape.program: escape.operations for escape in volume.sample().escapes}
    assert named == {f"program-{n}": 1 for n in range(7)} | {"others": 2}


def test_a_copy_inside_the_kernel_is_seen_at_both_ends(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(70_000))
    copies = "import os; os.copy_file_range(os.open('file', 0), os.open('copy', 66, 0o600), 2**30)"
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], env={})"
    done = run_on(volume, program, copies)
    assert done.returncode == 0, done.stderr
    (escape,) = volume.sample().escapes
    assert (escape.operations, escape.bytes) == (2, 140_000)


def test_a_map_of_a_program_without_the_library_is_counted(
    volumes: VolumeFactory, programs: Path
) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(4096))
    run_on(volume, f"import os; os.system('{programs}/static map read file 1')")
    assert volume.sample().uncounted_maps == 1


def test_a_thread_that_waits_can_still_be_cancelled(volumes: VolumeFactory, tmp_path: Path) -> None:
    source = tmp_path / "cancel.c"
    source.write_text(
        """
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *waits(void *unused)
{
    char byte;
    return (void *)read(ends[0], &byte, 1), unused;
}
int main(void)
{
    pthread_t thread;
    void *result;
    if (pipe(ends) || pthread_create(&thread, NULL, waits, NULL) || pthread_cancel(thread))
        return 2;
    return pthread_join(thread, &result) || result != PTHREAD_CANCELED;
}
"""
    )
    subprocess.run(["cc", "-pthread", "-o", tmp_path / "cancel", source], check=True)
    environment = {**os.environ, **volumes().environment()}
    done = subprocess.run([tmp_path / "cancel"], env=environment, check=False, timeout=60)
    assert done.returncode == 0


def test_messages_line_by_line_fill_a_page_before_they_are_another_io(
    volumes: VolumeFactory,
) -> None:
    volume = volumes()
    program = """
import ctypes
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
log = ctypes.c_void_p(libc.fopen(b'log', b'a'))
for _ in range(100):
    libc.fputs(b'x' * 99 + b'\\n', log)
    libc.fflush(log)
"""
    assert run_on(volume, program).returncode == 0
    (escape,) = volume.sample().escapes
    assert (escape.operations, escape.ios, escape.bytes) == (100, 3, 10_000)

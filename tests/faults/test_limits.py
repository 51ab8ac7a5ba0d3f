"""A run under a limit of the system (`ulimit`): it ends with the limit's name, and nothing is left.

How many processes a user may have cannot be tried as root, who is not bound by it:
`tests/unit/local/test_twin_checks.py` and `tests/local/lambdas/test_sandboxes.py` refuse threads
and forks instead.
"""

import sys
from pathlib import Path

import pytest

from plimsoll.local.databases.mariadb_program import VERSION
from tests.faults.faulty_run import requested
from tests.faults.place import place
from tests.faults.test_faults import ended
from tests.local.workflow.pool import ROOT

MIB = 2**20
MAIN = "from plimsoll.cli.main import main; main()"


@pytest.mark.whole  # tests/unit/test_process_limits.py names each
@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (f"--fsize={30 * MIB}", "a file may have 30 MiB at most (ulimit -f)"),
        pytest.param(
            f"--as={1200 * MIB}",
            "a process may have 1,200 MiB of memory at most (ulimit -v)",
            marks=pytest.mark.whole,
        ),
        pytest.param(
            "--nofile=34",
            "a process may have 34 open files at most (ulimit -n)",
            marks=pytest.mark.whole,
        ),
    ],
)
def test_a_limit_that_ends_a_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, told: str
) -> None:
    # what is made once and kept would be cut off for later runs, too
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    for name in (f"mariadb-{VERSION}", "volumes"):
        (tmp_path / "cache" / name).symlink_to(ROOT / ".cache" / name)
    file = tmp_path / "request.yaml"
    file.write_text(requested().model_dump_json())  # is YAML
    with place(tmp_path, disk_mib=1024) as own:
        run = ["run", str(file), "--local", "--out", str(tmp_path / "out")]
        command = ["prlimit", limit, sys.executable, "-c", MAIN, *run]
        on_disk = ["--data-dir", str(own.temporary)]
        code, output = ended(own.start([*command, *on_disk], folder=ROOT))
        left = [str(process) for process in own.processes()] + own.files()
    assert code == 1, output
    assert told in output
    assert "Traceback" not in output
    assert left == []

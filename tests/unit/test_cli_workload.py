"""`plimsoll workload derive` and what is observed, as they are refused and shown."""

from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.cli.observing import print_observation
from plimsoll.cli.workload import print_derived
from plimsoll.model.request.quantities import parse_duration_s
from plimsoll.workload.derive.derived import derive
from tests.unit.sizing.samples import observed, sample
from tests.unit.workload.derive.digests import READ, UPDATES, digest, seen

DSN = "mysql://u@127.0.0.1:1/shop"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["workload", "derive", *arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_what_cannot_be_is_refused_before_a_server_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    there = tmp_path / "mine.yaml"
    there.touch()
    assert "--for: 'soon' is not a length of time: write 90s" in told(capsys, DSN, "--for", "soon")
    assert "--for: a day at most" in told(capsys, DSN, "--for", "2d")
    assert "is there already" in told(capsys, DSN, "--out", str(there))
    assert "there is no folder" in told(capsys, DSN, "--out", str(tmp_path / "no/mine.yaml"))
    assert "--request: needs --out" in told(capsys, DSN, "--request", str(tmp_path / "r.yaml"))
    assert "--limit: is for the request" in told(capsys, DSN, "--limit", "20ms")
    assert "Cassandra does not count" in told(capsys, "cassandra://h/k")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("10min", 600), ("1.5h", 5400), ("14d", 1_209_600)],
)
def test_a_length_of_time_has_its_unit(text: str, seconds: float) -> None:
    assert parse_duration_s(text, "--for") == seconds


def test_a_summary_has_what_is_in_the_workload_and_what_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told_of = seen(digest(READ, 900), digest(UPDATES[0], 100))
    print_derived(derive(told_of), told_of, Path("mine.yaml"))
    text = capsys.readouterr().err
    assert "select_usertable_by_ycsb_key" in text
    assert "It covers 90 % of the calls and 90 % of the time in the server." in text
    assert "10 % of the calls, 10 % of the time: UPDATE usertable SET FIELD0 = ?" in " ".join(
        text.replace("`", "").split()
    )
    assert "plimsoll find DSN --workload mine.yaml --prepare" in text


def test_what_is_observed_is_shown_with_its_units(capsys: pytest.CaptureFixture[str]) -> None:
    print_observation(observed(sample(30_000), sample(70_000)))
    lines = capsys.readouterr().out.splitlines()
    (operations,) = [line.split() for line in lines if line.startswith("operations")]
    assert operations == ["operations", "10,000", "6,000", "14,000", "14,000", "ops/s"]
    assert any("an operation takes 0.05 I/Os, 0.82 KiB, 0.01 log flushes" in line for line in lines)
    assert "measured, not predicted" in lines[0]

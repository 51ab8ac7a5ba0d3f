"""Rules on the command line: exit codes, the files for a pipeline, and what is refused first."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.run.experiment_record import Decision
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.report.expectations import JudgedTable
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run
from tests.unit.report.experiment.test_experiment_summary import WHOLE, result_of

ROOT = Path(__file__).parents[2]
RESULT, _ = synthetic_run()
KNEE = judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
NO_FIGURE = {"max_sustainable_throughput_ops_per_second": None, "bound": None, "at": None}
TABLE = """clients,throughput_ops_per_second,latency_us.read.p99
1,1000,500
2,1500,500
4,1600,5000
"""


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Call the command as its user does; gives its exit code and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table of steps with a knee at 1,500 ops/s, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps.csv").write_text(TABLE)
    return "steps.csv"


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ((), 0),
        (("capacity >= 1500",), 0),
        (("capacity >= 1600",), 1),
        (("p99.read <= 1ms at 5000",), 3),
        (("capacity >= 1500", "p99.read <= 1ms at 5000"), 3),
        (("capacity >= 1600", "p99.read <= 1ms at 5000"), 1),
    ],
)
def test_capacity_ends_with_what_became_of_the_rules(
    capsys: pytest.CaptureFixture[str], table: str, rules: tuple[str, ...], code: int
) -> None:
    options = [word for rule in rules for word in ("--expect", rule)]
    ended, out, told = call(capsys, "capacity", table, "--limit-us", "read=1000", *options)
    assert ended == code
    for rule in rules:
        assert f"  {rule}: " in out
    assert (" capacity >= 1600 is not met: " in told) == ("capacity >= 1600" in rules)


def test_capacity_writes_its_rules_into_json_that_is_a_baseline_again(
    capsys: pytest.CaptureFixture[str], table: str
) -> None:
    judge = ("capacity", table, "--limit-us", "read=1000", "--json")
    _, out, _ = call(capsys, *judge, "--expect", "capacity >= 1500")
    assert [one.answer for one in JudgedTable.model_validate_json(out).expect] == ["met"]
    Path("base.json").write_text(out)
    code, out, _ = call(capsys, *judge, "--expect", "not worse than base.json by 5 %")
    assert code == 3
    (outcome,) = json.loads(out)["expect"]
    assert "without repetitions of both there is no interval" in outcome["because"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--expect", "faster"), "--expect: 'faster' is not a rule: write 'capacity >= 2000'"),
        (("--expect", "p99.raed <= 1ms at 9"), "did you mean 'read'?"),
        (("--expect", "not worse than x.json by 5 %"), "baseline x.json: there is no such file"),
        (("--junit", "no/folder.xml"), "--junit no/folder.xml: there is no folder no"),
        (("--markdown", "no/folder.md"), "--markdown no/folder.md: there is no folder no"),
    ],
)
def test_what_cannot_be_judged_or_written_is_refused(
    capsys: pytest.CaptureFixture[str], table: str, option: tuple[str, str], said: str
) -> None:
    code, out, err = call(capsys, "capacity", table, "--limit-us", "read=1000", *option)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def folder_of(tmp_path: Path, result: RunResult) -> str:
    """Write a run's result."""
    (tmp_path / "result.json").write_text(result.model_dump_json())
    return str(tmp_path)


def without_figure(verdict: str) -> Capacity:
    return KNEE.model_copy(update={"verdict": verdict, **NO_FIGURE})


@pytest.mark.parametrize(
    ("capacity", "state", "code"),
    [
        (KNEE, RunState.SUCCEEDED, 0),
        (judged((1, 1000, 500)), RunState.SUCCEEDED, 0),
        (judged((1, 1000, 5000)), RunState.SUCCEEDED, 0),
        (without_figure("NOISY"), RunState.SUCCEEDED, 3),
        (without_figure("INCONSISTENT"), RunState.SUCCEEDED, 3),
        (without_figure("DISTURBED"), RunState.SUCCEEDED, 3),
        (without_figure("CLIENT_BOUND"), RunState.SUCCEEDED, 3),
        (KNEE, RunState.FAILED, 1),
        (without_figure("NOISY"), RunState.STOPPED, 1),
        (None, RunState.TIMED_OUT, 1),
    ],
)
def test_show_ends_as_the_run_did(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    capacity: Capacity | None,
    state: RunState,
    code: int,
) -> None:
    result = RESULT.model_copy(update={"capacity": capacity, "state": state})
    assert call(capsys, "show", folder_of(tmp_path, result))[0] == code


def test_show_holds_a_finished_run_against_rules_and_leaves_its_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, RESULT)
    before = (tmp_path / "result.json").read_bytes()
    files = ("--junit", str(tmp_path / "j.xml"), "--markdown", str(tmp_path / "m.md"))
    code, out, told = call(capsys, "show", folder, "--expect", "capacity >= 1000000", *files)
    assert code == 1
    assert (
        f"plimsoll: {RESULT.name}: capacity >= 1000000 is not met: the capacity is"
        in (told.splitlines()[-1])
    )
    assert "not met  capacity >= 1000000: the capacity is" in out
    assert (tmp_path / "result.json").read_bytes() == before
    failures = list(ET.parse(tmp_path / "j.xml").iter("failure"))
    assert [failure.attrib["type"] for failure in failures] == ["not met"]
    assert "❌ not met" in (tmp_path / "m.md").read_text()
    same = f"not worse than {folder} by 5 %"
    code, out, _ = call(capsys, "show", folder, "--expect", same, "--json")
    assert code == 0
    (outcome,) = json.loads(out)["expect"]
    assert (outcome["answer"], outcome["because"][:10]) == ("met", "1.00 times")


@pytest.mark.parametrize(
    ("capacity", "rules", "code"),
    [
        (KNEE, (), 0),
        (without_figure("NOISY"), (), 3),
        (KNEE, ("p99.read <= 1ms at 5000",), 3),
        (KNEE, ("p99.raed <= 1ms at 1000",), 2),
    ],
)
def test_watch_ends_as_show_does(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    capacity: Capacity,
    rules: tuple[str, ...],
    code: int,
) -> None:
    result = RESULT.model_copy(update={"capacity": capacity})
    ended = {"connect_service": None, "follow_run": object(), "fetch_run_result": result}
    for name, given in ended.items():
        monkeypatch.setattr(f"plimsoll.cli.watch.{name}", lambda *_, given=given: given)
    options = [word for rule in rules for word in ("--expect", rule)]
    found, _, err = call(capsys, "watch", "some-run", *options)
    assert found == code
    assert ("did you mean 'read'?" in err) == (code == 2)


def test_show_prints_what_became_of_a_rule_that_only_another_version_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    newer = Expectation(rule="a rule of tomorrow", answer="not met", because="\x1b[2J [bold]")
    folder = folder_of(tmp_path, RESULT.model_copy(update={"expect": (newer,)}))
    code, out, _ = call(capsys, "show", folder)
    assert code == 1
    assert "not met  a rule of tomorrow: \\x1b[2J [bold]" in out


def test_an_experiment_without_an_answer_is_no_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = result_of(WHOLE)
    silent: tuple[Decision, ...] = tuple(
        decision.model_copy(update={"best": None}) for decision in result.decisions
    )
    path = tmp_path / "experiment.json"
    for changed, code in (
        (result, 0),
        (result.model_copy(update={"decisions": silent}), 3),
        (result.model_copy(update={"state": RunState.FAILED}), 1),
    ):
        path.write_text(changed.model_dump_json())
        assert call(capsys, "show", str(tmp_path))[0] == code
    code, _, err = call(capsys, "show", str(tmp_path), "--expect", "capacity >= 1")
    assert (code, "not to an experiment" in err) == (2, True)


def test_one_page_has_a_table_of_exit_codes_with_each_of_them() -> None:
    head, page = "| code | meaning |", ROOT / "docs/command-line.md"
    table = page.read_text().partition(head)[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "4", "130"]
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert [one for one in pages if head in one.read_text()] == [page]

"""`plimsoll size`, as a user calls it."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import observing, report, size, size_confirm
from plimsoll.cli.size import parse_limits
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import Failure
from plimsoll.report.page import join_units
from plimsoll.requests.checked_request import CheckedRequest
from tests.support.few_prices import PRICES
from tests.support.synthetic_run import synthetic_run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "r1-demo"
    folder.mkdir()
    result, _ = synthetic_run()
    processors = result.model_copy(update={"processors": 2})
    (folder / "result.json").write_text(processors.model_dump_json())
    return folder


def called(folder: Path, *arguments: str) -> Result:
    limits: tuple[str, ...] = (
        () if any(a.startswith("--limit") for a in arguments) else ("--limit", "50ms")
    )
    of_region: tuple[str, ...] = ()
    if "--region" not in arguments:
        prices = folder.parent / "prices.json"
        prices.write_text(json.dumps(PRICES))
        of_region = ("--region", "eu-west-1", "--prices", str(prices))
    return CliRunner().invoke(
        size.command, [str(folder), *limits, *of_region, *arguments], standalone_mode=False
    )


def refused(folder: Path, *arguments: str) -> str:
    error = called(folder, *arguments).exception
    assert isinstance(error, UsageError)
    return str(error)


def test_the_answer_is_one_sentence_and_a_ranking_in_which_predictions_are_marked(
    run_folder: Path,
) -> None:
    result = called(run_folder, "--want", "2000", "--growth", "2x/year")
    assert result.return_value == 0, result.exception
    first, asked, *_ = result.output.splitlines()
    assert ", carries 2,000 ops/s with 30 % to spare for $" in first
    assert asked.startswith("Asked: 2,000 ops/s within p99 read 50.0 ms, update 50.0 ms; a load")
    rows = [
        line
        for line in result.output.splitlines()
        if "~" in line and line.startswith(("carries ", "may carry "))
    ]
    assert len(rows) == 9  # and the run itself, which carries it too
    assert "2 times a year until " in result.output
    assert "~ is predicted, not measured. Assumptions:" in result.output
    assert "with --all or --json" in result.output


def test_what_was_measured_bears_no_mark(run_folder: Path) -> None:
    result = called(run_folder, "--want", "100", "--all")
    (row,) = [line for line in result.output.splitlines() if line.startswith("carries, measured")]
    assert "(r1-demo)" in row
    assert "~" not in row


def test_json_has_the_whole_ranking(run_folder: Path) -> None:
    found = json.loads(called(run_folder, "--want", "2000", "--json").output)
    assert found["schema_version"] == 1
    assert found["options"][0]["status"] == "predicted"
    assert found["options"][0]["items"][0]["unit"] == "hour"
    assert [one["run"] for one in found["measured"]] == ["r1-demo"]


def test_the_page_tells_measured_from_predicted(run_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "size.html"
    called(run_folder, "--want", "100", "-o", str(page))
    text = page.read_text()
    assert (
        text.count('<th scope="row">carries, measured</th>') == 2
    )  # in the ranking, and among the runs
    assert '<td class="predicted">~' in text
    assert '<td class="strong">~' not in text


def test_the_page_of_the_run_has_the_ranking_with_measured_and_predicted_apart(
    fresh_run: Path,
) -> None:
    CliRunner().invoke(report.command, [str(fresh_run)], standalone_mode=False)
    assert "What to buy" not in (fresh_run / "report.html").read_text()
    asked = json.loads(called(fresh_run, "--want", "100", "--json").output)
    CliRunner().invoke(report.command, [str(fresh_run)], standalone_mode=False)
    page = (fresh_run / "report.html").read_text()
    assert join_units(asked["sentence"]) in page
    assert join_units("Asked: 100 ops/s within") in page
    assert "~ is predicted, not measured." in page
    ranking = page[page.index("What to buy") :]
    ranking = ranking[: ranking.index("</section>")]
    assert ranking.count('<th scope="row">carries, measured</th>') == 1
    predicted = sum(option["status"] == "predicted" for option in asked["options"])
    assert 0 < ranking.count('<td class="predicted">~') <= 3 * predicted
    assert '<td class="strong">~' not in ranking


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(fresh_run: Path) -> None:
    (fresh_run / "sizing").write_text("a file is in the way")
    result = called(fresh_run, "--want", "100")
    assert result.return_value == 0, result.exception
    assert "not kept for the run's page: " in result.stderr


def test_where_nothing_carries_it_the_exit_code_is_1(run_folder: Path) -> None:
    result = called(run_folder, "--want", "100000000")
    assert result.return_value == 1
    assert result.output.startswith("nothing carries 100,000,000 ops/s")


def test_where_nothing_is_sure_the_exit_code_is_4_and_the_command_that_decides_is_told(
    run_folder: Path,
) -> None:
    result = called(run_folder, "--want", "60000")
    assert result.return_value == 4, result.exception
    assert result.output.startswith("nothing surely carries it; ")
    assert (
        "plimsoll size r1-demo --want 60000 --limit read=50ms --limit update=50ms --confirm"
        in result.output
    )


def test_a_limit_without_a_statistic_is_of_p99_whatever_the_run_was_judged_by(
    fresh_run: Path,
) -> None:
    result, _ = synthetic_run()
    limits = result.request.limits.model_copy(update={"statistic": "p95"})
    request = result.request.model_copy(update={"limits": limits})
    changed = result.model_copy(update={"processors": 2, "request": request})
    (fresh_run / "result.json").write_text(changed.model_dump_json())
    asked = ("--want", "100", "--json")
    assert json.loads(called(fresh_run, *asked).output)["statistic"] == "p99"
    of_p95 = called(fresh_run, *asked, "--statistic", "p95")
    assert json.loads(of_p95.output)["statistic"] == "p95"
    own = CliRunner().invoke(size.command, [str(fresh_run), *asked], standalone_mode=False)
    assert json.loads(own.output)["statistic"] == "p95"


def test_a_run_with_audits_off_is_warned_of_in_the_first_line(fresh_run: Path) -> None:
    result, _ = synthetic_run()
    limits = result.request.limits.model_copy(update={"audits_off": frozenset({"drift"})})
    request = result.request.model_copy(update={"limits": limits})
    changed = result.model_copy(update={"processors": 2, "request": request})
    (fresh_run / "result.json").write_text(changed.model_dump_json())
    first, second, *_ = called(fresh_run, "--want", "100").output.splitlines()
    assert first.startswith("Warning: the run is weak ground for a purchase: audits that were")
    assert second.startswith("db.m6i.large")


def test_a_horizon_tells_what_carries_the_load_then(run_folder: Path) -> None:
    result = called(run_folder, "--want", "2000", "--growth", "2x/year", "--horizon", "2y")
    (line,) = [one for one in result.output.splitlines() if one.startswith("the load in 2 years")]
    assert " 8,000 ops/s with 30 % to spare for $" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "page.pdf"), "-o page.pdf: must end in .html"),
        (("--headroom", "130%"), "--headroom: '130%' is not a share below 100 %: write 30%"),
        (("--headroom", "0.3"), "--headroom: '0.3' is not a share below 100 %"),
        (("--growth", "twice"), "--growth: 'twice' is not a growth: write 2x/year"),
        (("--horizon", "2y"), "--horizon: needs --growth"),
        (
            ("--horizon", "soon", "--growth", "2x/year"),
            "--horizon: 'soon' is not a time from today: write 2y or 18months",
        ),
        (("--limit", "read=5ms"), "--limit: none for update: write --limit update=20ms, or"),
        (("--limit", "delete=5ms"), "limits: unknown operation 'delete'"),
        (("--region", "eu-west-1"), "--region: no prices of eu-west-1 are here"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(
    run_folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(run_folder, "--want", "2000", *arguments)


@pytest.mark.parametrize(
    ("region", "refusal"),
    [
        (("--region", "us-east-1"), "--region: us-east-1, and the prices of --prices are eu-west"),
        (("--region", "eu-west-2"), "--region: eu-west-2, and the prices of --prices are eu-west"),
        ((), None),
        (("--region", "eu-west-1"), None),
    ],
)
def test_prices_of_another_region_than_the_one_asked_for_are_refused(
    run_folder: Path, region: tuple[str, ...], refusal: str | None
) -> None:
    prices = run_folder.parent / "prices.json"
    prices.write_text(json.dumps(PRICES))
    arguments = [str(run_folder), "--want", "100", "--limit", "50ms", "--prices", str(prices)]
    result = CliRunner().invoke(
        size.command, [*arguments, *region, "--json"], standalone_mode=False
    )
    if refusal:
        assert str(result.exception).startswith(refusal)
    else:
        assert json.loads(result.stdout)["region"] == "eu-west-1"


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "--want", "1").endswith("it has no result.json")


def test_of_a_folder_of_runs_one_is_to_be_named(run_folder: Path) -> None:
    assert refused(run_folder.parent, "--want", "1").endswith("name one of the runs in it: r1-demo")


def test_a_run_on_aws_is_not_confirmed_here(tmp_path: Path) -> None:
    result, _ = synthetic_run()
    on_aws = result.model_copy(update={"local": False})
    (tmp_path / "result.json").write_text(on_aws.model_dump_json())
    assert "--confirm: measures on this machine" in refused(tmp_path, "--want", "1", "--confirm")


class Machine:
    """Stands in for the twin: writes a made-up result for each request, and remembers it."""

    def __init__(self, knee: float = 3.2, failure: Failure | None = None) -> None:
        self.asked: list[Request] = []
        self._knee = knee
        self._failure = failure

    def __call__(self, runs: list[tuple[CheckedRequest, Path]], data_dir: Path | None) -> bool:
        assert data_dir is None
        for checked, folder in runs:
            self.asked.append(checked.request)
            result, _ = synthetic_run(knee=self._knee)
            changed = {"request": checked.request, "processors": 2, "failure": self._failure}
            folder.mkdir(parents=True)
            (folder / "result.json").write_text(result.model_copy(update=changed).model_dump_json())
        return False


def confirmed(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine, *arguments: str
) -> Result:
    monkeypatch.setattr(size_confirm, "run_here", machine)
    want: tuple[str, ...] = () if "--want" in arguments else ("--want", "2000")
    return called(run_folder, "--confirm", *want, *arguments)


@pytest.fixture
def fresh_run(run_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "r1-demo"
    shutil.copytree(run_folder, folder, ignore=shutil.ignore_patterns("sizing"))
    return folder


def test_the_cheapest_is_measured_until_it_is_said_to_carry_the_load(
    fresh_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine()
    result = confirmed(fresh_run, monkeypatch, machine)
    assert result.return_value == 0, result.exception
    assert 1 <= len(machine.asked) <= 2
    first = machine.asked[0]
    assert first.limits.limits_us == {"read": 50_000, "update": 50_000}
    assert isinstance(first.target, RdsTarget)
    assert first.target.volume.type == "gp3"  # the cheapest
    measured = [line for line in result.stdout.splitlines() if line.startswith("confirmed: ")]
    assert len(measured) == len(machine.asked)
    assert ", measured " in measured[0]


def test_what_was_confirmed_is_read_again_the_next_time(
    fresh_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed(fresh_run, monkeypatch, Machine())
    found = json.loads(called(fresh_run, "--want", "2000", "--json").output)
    assert [one["run"] for one in found["measured"]][:2] == ["r1-demo", "sizing/1"]
    assert found["confirmed"] == []  # nothing was run this time


def test_where_nothing_measured_carries_it_there_is_no_answer(
    fresh_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs at most, and both far below what was predicted of them."""
    machine = Machine(knee=1.2)
    result = confirmed(fresh_run, monkeypatch, machine, "--want", "30000", "--json")
    assert 1 <= len(machine.asked) <= 2
    found = json.loads(result.stdout)
    assert "measured" not in {option["status"] for option in found["options"]}
    assert result.return_value == (3 if found["options"] else 1)
    assert len(found["confirmed"]) == len(machine.asked)


def test_a_run_that_fails_is_told_with_its_folder(
    fresh_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = Failure(phase="step", error="StepError", cause="no disk")
    result = confirmed(fresh_run, monkeypatch, Machine(failure=failure))
    assert isinstance(result.exception, PlimsollError)
    assert str(result.exception).endswith("sizing/1: the run failed: no disk")


def test_a_confirming_run_that_failed_is_left_out_the_next_time(
    fresh_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = Failure(phase="step", error="StepError", cause="no disk")
    confirmed(fresh_run, monkeypatch, Machine(failure=failure))
    again = called(fresh_run, "--want", "100", "--json")
    assert again.exception is None
    assert "sizing/1: the run failed: no disk" in again.stderr
    assert "measured" in {row["status"] for row in json.loads(again.stdout)["measured"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--observe", "mysql://u@h/d", "--want", "5"),
        ("--for", "10m", "--want", "5"),
        (),
    ],
)
def test_a_run_and_an_observation_are_asked_for_apart(
    run_folder: Path, arguments: tuple[str, ...]
) -> None:
    assert "--observe" in refused(run_folder, *arguments)


def test_what_is_observed_is_told_by_the_same_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def observe(*told: object) -> int:
        asked.append(told)
        return 0

    monkeypatch.setattr("plimsoll.cli.observing.observe", observe)
    arguments = ["--observe", "rds://db-1", "--for", "14d", "--json"]
    result = CliRunner().invoke(size.command, arguments, standalone_mode=False)
    assert result.return_value == 0
    assert asked == [("rds://db-1", "14d", None, True, "--observe")]
    assert "is now plimsoll observe;" in result.stderr


def test_a_production_database_is_observed_by_a_verb_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    def observe(*told: object) -> int:
        asked.append(told)
        return 0

    monkeypatch.setattr("plimsoll.cli.observing.observe", observe)
    arguments = ["rds://db-1", "--for", "14d", "--json"]
    result = CliRunner().invoke(observing.command, arguments, standalone_mode=False)
    assert result.return_value == 0
    assert asked == [("rds://db-1", "14d", None, True)]
    assert result.stderr == ""


def test_a_run_is_found_by_its_id(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_folder, tmp_path / "plimsoll-results/serve-1/any-name")
    run_id = json.loads((run_folder / "result.json").read_text())["run_id"]
    found = called(Path(run_id), "--want", "100", "--json")
    assert json.loads(found.output)["run"] == "any-name"
    problem = refused(Path("no-such-id"), "--want", "100")
    assert problem.endswith("no-such-id: there is no such folder, nor run in plimsoll-results/")


def test_without_a_limit_those_of_the_runs_own_answer_hold() -> None:
    result, _ = synthetic_run()
    assert not result.request.limits.limits_us  # so: times its lightest load
    assert result.capacity is not None
    assert parse_limits(result, ()) == result.capacity.steps[0].limit_us


def test_clouds_are_ranked_together_with_what_is_assumed_in_the_first_line(
    run_folder: Path,
) -> None:
    result = called(run_folder, "--want", "2000", "--clouds", "all", "--rate", "CNY=7.1")
    assert result.return_value == 0, result.exception
    lines = result.output.splitlines()
    assert lines[0].startswith("assumed: a vCPU of any machine here does as much as one of the run")
    managed, machines = lines.index("Managed databases:"), lines.index("Machines with disks:")
    assert any("Google Cloud us-central1: db-custom-" in line for line in lines[managed:machines])
    below = lines[machines:]
    for cloud in ("Azure eastus: Standard_D2s_v5", "Google Cloud us-central1: n2-standard-2"):
        assert any(cloud in line for line in below)
    prices = [float(p) for p in _second_cells(below) if p.replace(".", "").isdecimal()]
    assert prices == sorted(prices)


def _second_cells(lines: list[str]) -> list[str]:
    rows = [line.split() for line in lines if line.startswith(("predicted", "perhaps"))]
    return [row[1].replace(",", "") for row in rows]


def test_clouds_are_in_json_only_if_they_are_asked_for(run_folder: Path) -> None:
    plain = json.loads(called(run_folder, "--want", "2000", "--json").output)
    assert "clouds" not in plain
    asked = json.loads(called(run_folder, "--want", "2000", "--clouds", "google", "--json").output)
    assert {option["cloud"] for option in asked["clouds"]["machines"]} == {"google"}
    assert all(item["as_of"] for option in asked["clouds"]["machines"] for item in option["items"]
               if item["per_month"] is not None)  # fmt: skip


def test_rates_belong_to_clouds(run_folder: Path) -> None:
    assert "belong to --clouds" in refused(run_folder, "--want", "2000", "--rate", "CNY=7.1")

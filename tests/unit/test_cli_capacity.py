"""`plimsoll capacity` as a user runs it: the answer, its JSON, and every refusal in one line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli.capacity import command
from plimsoll.errors import UsageError
from tests.support.synthetic_run import synthetic_run
from tests.unit.capacity.readers.outputs import FOLDER, text_of

YCSB_0_1_4 = text_of("ycsb-0.1.4.txt")
SYSBENCH_1_0 = text_of("sysbench-1.0.txt")

COLUMNS = "clients,throughput_ops_per_second,latency_us.update,latency_us.read"
R1_1000 = f"""{COLUMNS}
1,2300,420,400
2,4000,480,470
3,5600,560,510
4,2900,2100,550
8,4900,2500,600
"""
R1_2000 = f"""{COLUMNS},share.update,share.read
1,2300,420,400,0.5,0.5
2,4000,490,480,0.5,0.5
3,5600,530,520,0.5,0.5
4,7200,540,530,0.5,0.5
8,12960,930,590,0.5,0.5
"""


@pytest.fixture
def r1_1000(tmp_path: Path) -> Path:
    path = tmp_path / "r1-1000.csv"
    path.write_text(R1_1000)
    return path


@pytest.fixture
def r1_2000(tmp_path: Path) -> Path:
    path = tmp_path / "r1-2000.csv"
    path.write_text(R1_2000)
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_the_answer_for_people(r1_1000: Path) -> None:
    result = call(r1_1000)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "KNEE  sustains 5,600 ops/s at 3 clients; at 4 it does not: update took 2.10 ms" in (
        result.stdout
    )
    assert any("3" in line and "5,600" in line and "passed <" in line for line in lines)
    assert any("2,900" in line and "failed" in line and "limit 1.26 ms" in line for line in lines)
    assert "bracket    passes at 3 clients, fails at 4 clients" in lines
    assert "edge       not known: too few repetitions" in lines
    assert "cause      latency:update, retrograde" in lines
    assert "interval   none: one repetition" in lines


def test_a_load_is_called_as_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "busy.csv"
    rows = ["1,1000,1000,0.5", "2,1900,1100,0.95"]
    head = "connections,throughput_ops_per_second,latency_us.read,client_busy"
    path.write_text("\n".join([head, *rows]))
    *_, last = (line for line in call(path).stdout.splitlines() if "1,900" in line)
    assert "client-bound" in last
    assert "passed" not in last


def test_the_answer_for_programs(r1_1000: Path) -> None:
    found = json.loads(call(r1_1000, "--json").stdout)
    assert found["verdict"] == "KNEE"
    assert found["max_sustainable_throughput_ops_per_second"] == 5600
    assert (found["bound"], found["at"], found["bracket"]) == ("=", 3, [3, 4])
    assert found["cause"] == "latency:update"
    assert [step["passed"] for step in found["steps"]] == [True, True, True, False, False]
    assert found["steps"][3]["reasons"] == ["latency:update", "retrograde"]
    assert {audit["name"] for audit in found["steps"][3]["audits"]} >= {"littles_law"}


@pytest.mark.parametrize(
    ("options", "figure", "at"),
    [
        (("--connections-per-client", 1), 7200, 4),
        (("--connections-per-client", 1, "--without-audit", "littles_law"), 12960, 8),
        ((), 12960, 8),
    ],
)
def test_littles_law_needs_the_connections(
    r1_2000: Path, options: tuple[object, ...], figure: float, at: float
) -> None:
    found = json.loads(call(r1_2000, "--json", *options).stdout)
    assert (found["verdict"], found["bound"]) == ("LOWER_BOUND", ">=")
    assert (found["max_sustainable_throughput_ops_per_second"], found["at"]) == (figure, at)
    unchecked = any("Little's law is not checked" in note for note in found["notes"])
    assert unchecked is (not options)


@pytest.mark.parametrize(
    ("options", "verdict", "at"),
    [
        (("--limit-us", "update=500"), "KNEE", 2),
        (("--limit-us", "update=500", "--limit-us", "read=450"), "KNEE", 1),
        (("--limit-us", "update=100"), "BELOW_FIRST_STEP", None),
        (("--deterioration", "1.2"), "KNEE", 2),
    ],
)
def test_limits(r1_1000: Path, options: tuple[str, ...], verdict: str, at: float | None) -> None:
    found = json.loads(call(r1_1000, "--json", *options).stdout)
    assert (found["verdict"], found["at"]) == (verdict, at)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit-us", "upsert=5"), "'upsert': no step has this operation"),
        (("--limit-us", "update"), "must be OPERATION=N"),
        (("--limit-us", "update=-1"), "must be OPERATION=N"),
        (("--limit-us", "update=5", "--limit-us", "update=6"), "update is given twice"),
        (("--connections", "5"), "given 1 number, but 0 files lack it"),
    ],
)
def test_a_wrong_option_is_named(r1_1000: Path, options: tuple[str, ...], message: str) -> None:
    error = call(r1_1000, *options).exception
    assert isinstance(error, UsageError)
    assert message in str(error)


def test_one_file_of_a_peer_is_one_step(tmp_path: Path) -> None:
    three, four = tmp_path / "3.txt", tmp_path / "4.txt"
    three.write_text(YCSB_0_1_4)
    overloaded = YCSB_0_1_4.replace("-threads 3", "-threads 4").replace("560.2", "2100")
    four.write_text(overloaded.replace("5600.0", "2900").replace("168000", "87000"))
    found = json.loads(call(four, three, "--statistic", "mean", "--json").stdout)
    assert (found["verdict"], found["axis"], found["at"]) == ("KNEE", "connections", 3)


def test_a_peer_that_does_not_say_its_connections_is_told_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SYSBENCH_1_0.replace("Number of threads: 64", ""))
    error = call(path).exception
    assert isinstance(error, UsageError)
    assert "a.txt: how many connections" in str(error)
    assert json.loads(call(path, "--connections", 64, "--json").stdout)["at"] == 64


def test_a_run_is_judged_by_its_own_rules(tmp_path: Path) -> None:
    result, _ = synthetic_run()
    (tmp_path / "result.json").write_text(result.model_dump_json())
    found = json.loads(call(tmp_path, "--json").stdout)
    assert result.capacity is not None
    for name in ("verdict", "at", "cause", "figure"):
        assert found[name] == getattr(result.capacity, name)
    assert found["max_sustainable_throughput_ops_per_second"] == pytest.approx(
        result.capacity.max_sustainable_throughput_ops_per_second
    )


def test_a_run_that_did_without_an_audit_is_judged_without_it(tmp_path: Path) -> None:
    result, _ = synthetic_run()
    busy = [
        step.model_copy(update={"step": step.step.model_copy(update={"host_others_percent": 40.0})})
        for step in result.steps
    ]
    for off, verdict in (({"undisturbed"}, "KNEE"), (set[str](), "DISTURBED")):
        limits = result.request.limits.model_copy(update={"audits_off": frozenset(off)})
        request = result.request.model_copy(update={"limits": limits})
        run = result.model_copy(update={"request": request, "steps": tuple(busy)})
        (tmp_path / "result.json").write_text(run.model_dump_json())
        assert json.loads(call(tmp_path, "--json").stdout)["verdict"] == verdict


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    error = call(tmp_path).exception
    assert isinstance(error, UsageError)
    assert "is not a run: it has no result.json" in str(error)


def written(folder: Path, **outputs: str) -> list[Path]:
    """Outputs of a program as files, one for each load."""
    paths = []
    for name, text in outputs.items():
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text(text)
    return paths


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir()))
def test_every_output_is_judged_or_refused_in_one_line(name: str) -> None:
    result = call(FOLDER / name, "--json")
    if isinstance(result.exception, UsageError):
        text = str(result.exception)
        assert text.startswith(name)
        assert "--rate N" in text or "report_json" in text or "wrk2 --latency" in text
    else:
        found = json.loads(result.stdout)
        behind = name in {"go-ycsb-json.txt", "latte-0.27.json"}  # their rates
        verdict, cause = ("BELOW_FIRST_STEP", "rate") if behind else ("LOWER_BOUND", None)
        assert (found["verdict"], found["cause"]) == (verdict, cause)


def test_the_rates_of_several_outputs_are_given_in_order(tmp_path: Path) -> None:
    lighter = text_of("wrk2.txt")
    heavier = lighter.replace("60000 requests", "120000 requests").replace("2000.00", "4000.00")
    heavier = heavier.replace("11.18ms", "99.18ms").replace("12.30ms", "100.30ms")
    heavier = heavier.replace("Non-2xx or 3xx responses: 600", "")
    heavier = heavier.replace("read 2, write 0, timeout 3", "read 0, write 0, timeout 0")
    lighter = lighter.replace("Non-2xx or 3xx responses: 600", "").replace("read 2", "read 0")
    files = written(tmp_path, heavy=heavier, light=lighter.replace("timeout 3", "timeout 0"))
    assert "heavy.txt, light.txt" in str(call(*files).exception)
    for rates in (("--rate", "4000,2000"), ("--rate", "4000", "--rate", "2000")):
        found = json.loads(call(*files, *rates, "--json").stdout)
        assert (found["verdict"], found["at"], found["cause"]) == ("KNEE", 2000, "latency:request")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rate", "4000,2000"), "--rate is given 2 numbers, but 1 file lacks it (wrk2.txt)"),
        (("--rate", "1000"), "wrk2.txt: 1,980 ops/s were measured, more than --rate 1,000"),
        (("--rate", "2000", "--connections", "5"), "is given 1 number, but 0 files lack it"),
    ],
)
def test_loads_that_cannot_be_those_of_the_files(options: tuple[str, ...], message: str) -> None:
    error = call(FOLDER / "wrk2.txt", *options).exception
    assert isinstance(error, UsageError)
    assert message in str(error)


@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "1,,2", "1.5"])
def test_a_list_of_numbers_holds_numbers(value: str) -> None:
    result = call(FOLDER / "ycsb-0.17.txt", "--connections", value)
    assert result.exit_code == 2
    assert "is not a whole number above 0" in result.output


def test_a_target_of_ycsb_without_intended_latencies_is_noted(tmp_path: Path) -> None:
    text = text_of("ycsb-0.17.txt").replace("-threads 8", "-threads 8 -target 1000")
    one, two = written(tmp_path, one=text.replace("[READ], Return=ERROR, 100\n", ""), two=text)
    notes = json.loads(call(one, two, "--statistic", "mean", "--json").stdout)["notes"]
    about = "one.txt, two.txt: latencies count from when"
    told = [note for note in notes if note.startswith(about)]
    assert len(told) == 1


def test_a_file_that_is_nothing_known_names_what_is(tmp_path: Path) -> None:
    (path,) = written(tmp_path, a="hello\n1\n")
    error = str(call(path).exception)
    assert error.startswith("a.txt: neither a table of steps nor an output of a known program")
    assert "go-ycsb, sysbench, pgbench, wrk2, k6, latte" in error
    path.write_text('{"hello": 1}')
    assert "plimsoll load --json are read" in str(call(path).exception)


@pytest.mark.parametrize("name", ["k6-summary-export.json", "pgbench-15.txt"])
def test_a_byte_order_mark_and_other_ends_of_lines_change_nothing(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("\ufeff" + text_of(name), newline="\r\n")
    assert call(path).stdout == call(FOLDER / name).stdout

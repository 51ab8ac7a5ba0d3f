"""What is printed on a terminal of any width, and where files are written."""

import io
import json
import os
import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from rich.console import Console

from plimsoll.cli.capacity import print_capacity
from plimsoll.cli.exporting import Exporting
from plimsoll.cli.main import cli, main
from plimsoll.cli.output import fold_line, make_table, print_figures
from plimsoll.cli.run_text import print_result
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.run.results import Candidate, LimitingResource
from tests.support.few_prices import PRICES
from tests.support.requested import REQUESTED
from tests.support.synthetic_run import synthetic_run


def printed(width: int, limiting: LimitingResource | None = None) -> str:
    console = Console(width=width, file=io.StringIO())
    result, _ = synthetic_run()
    if limiting is not None:
        result = result.model_copy(update={"limiting": limiting})
    print_result(result, None, console)
    assert result.capacity is not None
    print_capacity(result.capacity, console)
    assert console.width == width
    told = console.file.getvalue()  # type: ignore[attr-defined]  # it is the one above
    assert isinstance(told, str)
    return told


@pytest.mark.parametrize("width", [20, 50, 80])
def test_no_figure_is_cut_on_a_narrow_terminal(width: int) -> None:
    narrow = printed(width)
    assert "…" not in narrow
    assert narrow.split() == printed(300).split()


@pytest.mark.parametrize(
    ("reached", "first"),
    [(True, "Limited by: row locks (step 4)"), (False, "Nearest to its limit: row locks, 80 %")],
)
def test_what_set_the_limit_is_told_with_the_second_and_what_would_have_to_change(
    *, reached: bool, first: str
) -> None:
    second = Candidate(
        resource="cpu", share=0.62, threshold=0.9, reached=False, evidence="", to_change="more"
    )
    limiting = LimitingResource(
        resource="row_locks", reached=reached, share=0.8, to_change="shorter transactions",
        second=second, host_bound=None, step=4, evidence=("row locks: 99 waits",),
    )  # fmt: skip
    told = printed(300, limiting)
    assert first in told
    assert "  remedy: shorter transactions\n" in told
    assert "  next limit: CPU, 62 %; remedy: more\n" in told
    assert "  row locks: 99 waits\n" in told


@pytest.mark.parametrize(
    "call",
    [
        "report run -o LINK.html",
        "report run -o LINK.csv",
        "compare run run -o LINK.html",
        "size run --want 100 --limit 50ms --prices run/prices.json -o LINK.html",
        "show run --expect 'capacity >= 1' --junit LINK.xml",
        "show run --markdown LINK.md",
    ],
)
def test_no_verb_writes_through_a_link_into_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result, _ = synthetic_run()
    Path("run").mkdir()
    Path("run/result.json").write_text(result.model_dump_json())
    Path("run/prices.json").write_text(json.dumps(PRICES))
    kept = tmp_path / "elsewhere" / "kept"
    kept.parent.mkdir()
    kept.write_text("before")
    arguments = shlex.split(call)
    Path(arguments[-1]).symlink_to(kept)
    refused = CliRunner().invoke(cli, arguments)
    assert isinstance(refused.exception, PlimsollError)
    assert str(refused.exception) == (
        f"cannot write {arguments[-1]}: it is a link to {kept}: name that file itself"
    )
    assert kept.read_text() == "before"


def test_no_answer_is_written_through_a_folder_that_is_a_link(tmp_path: Path) -> None:
    """`sizing` of a run that somebody else sends may be a link to a folder of whoever reads it."""
    result, _ = synthetic_run()
    (tmp_path / "run").mkdir()
    (tmp_path / "run/result.json").write_text(result.model_dump_json())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/answer.json").write_text("before")
    (tmp_path / "run/sizing").symlink_to("../elsewhere")
    arguments = ["size", str(tmp_path / "run"), "--want", "100", "--limit", "50ms"]
    refused = CliRunner().invoke(cli, arguments)
    assert isinstance(refused.exception, UsageError)
    assert f"sizing: is a link to {tmp_path}/elsewhere: remove it" in str(refused.exception)
    assert (tmp_path / "elsewhere/answer.json").read_text() == "before"


NAME = b"\x1b[2J\x07 \xff\xfe\xc2\x9b"  # escapes, and bytes that are no UTF-8


@pytest.mark.parametrize(
    "call",
    [
        "show RUN",
        "report RUN",
        "capacity RUN",
        "compare RUN RUN -o RUN/compared.html",
        "size RUN --want 100 --limit 50ms --prices RUN/prices.json -o RUN/size.html",
        "show RUN --expect 'not worse than RUN by 5 %' --junit RUN/j.xml --markdown RUN/m.md",
        "validate RUN/request.yaml",
        "validate RUN/result.json",
        "show RUN/nothing",
    ],
)
def test_a_name_of_a_folder_controls_no_terminal_and_may_be_any_bytes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], call: str
) -> None:
    run = tmp_path / os.fsdecode(NAME)
    (run / "nothing").mkdir(parents=True)
    (run / "result.json").write_text(synthetic_run()[0].model_dump_json())
    (run / "request.yaml").write_text(yaml.safe_dump(REQUESTED))
    (run / "prices.json").write_text(json.dumps(PRICES))
    with pytest.raises(SystemExit) as ended:
        main([part.replace("RUN", str(run)) for part in shlex.split(call)])
    assert ended.value.code in {0, 1, 2, 4}
    written = [file for ending in ("html", "xml", "md") for file in run.glob(f"*.{ending}")]
    for told in (*capfdbinary.readouterr(), *(file.read_bytes() for file in written)):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", told.decode())


def test_figures_for_prometheus_are_not_written_through_a_link_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result, _ = synthetic_run()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "metrics.prom").symlink_to("elsewhere/kept")
    Exporting(tmp_path / "metrics.prom").tell_runs([result])
    assert "metrics.prom: it is a link to" in capsys.readouterr().err
    assert not (tmp_path / "elsewhere" / "kept").exists()


@pytest.mark.parametrize(
    "call",
    [
        "compare run --with /dev/zero",
        "size run --want 100 --limit 50ms --prices /dev/zero",
        "capacity /dev/zero",
        "validate /dev/zero",
        "prepare --dsn mysql://u@127.0.0.1/d --workload /dev/zero",
    ],
)
def test_no_verb_reads_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.chdir(tmp_path)
    result, _ = synthetic_run()
    Path("run").mkdir()
    Path("run/result.json").write_text(result.model_dump_json())
    refused = CliRunner().invoke(cli, shlex.split(call))
    assert isinstance(refused.exception, UsageError)
    assert "/dev/zero: is a device: allowed are files and pipes" in str(refused.exception)


def test_what_holds_statements_can_be_read_by_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result, _ = synthetic_run()
    Path("run").mkdir()
    Path("run/result.json").write_text(result.model_dump_json())
    made = CliRunner().invoke(cli, ["report", "run"])
    assert made.exit_code == 0, made.exception
    assert Path("run/report.html").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("columns", [4, 9, 30])
def test_a_terminal_gets_every_figure_and_title_whole_within_its_width(columns: int) -> None:
    titles = ["target", *(f"latency of number-{n}" for n in range(columns))]
    table = make_table(*titles, right=titles[1:])
    table.add_row("gp3 of 3,000 IOPS", *(f"{n},413 ms" for n in range(columns)))
    told = io.StringIO()
    print_figures(Console(file=told, width=80, force_terminal=True, color_system=None), table)
    lines = told.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    shown = told.getvalue().split()
    for n in range(columns):
        assert f"number-{n}" in shown
        assert f"{n},413" in shown
    assert "…" not in told.getvalue()


def test_a_terminal_wide_enough_gets_a_table_in_one_line_a_row() -> None:
    table = make_table("target", "latency under this load")
    table.add_row("gp3 of 3,000 IOPS", "1,413 ms")
    told = io.StringIO()
    print_figures(Console(file=told, width=200, force_terminal=True, color_system=None), table)
    assert len(told.getvalue().splitlines()) == 2


def test_on_a_terminal_no_line_is_wider_and_further_lines_are_indented() -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, no_color=True)
    result, _ = synthetic_run()
    evidence = ("log flushes: 388/s, at 5.17 ms each, so one is in progress all of the time " * 2,)
    assert result.limiting is not None
    long = result.limiting.model_copy(update={"evidence": evidence})
    print_result(result.model_copy(update={"limiting": long}), None, console)
    assert result.capacity is not None
    print_capacity(result.capacity, console)
    told = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())  # type: ignore[attr-defined]
    assert max(map(len, told.splitlines())) <= 80
    assert re.search(r"^  log flushes: .*\n    \S", told, re.MULTILINE)


def test_a_pipe_gets_each_line_whole() -> None:
    assert fold_line("a line of words", 2, None) == "a line of words"
    assert fold_line("a line of words that is broken", 2, 22) == "a line of words that\n  is broken"

"""Outputs as people have them: separators, log prefixes, partial runs, programs not read."""

import html
import json
import quopri
import textwrap
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from plimsoll.capacity.readers import read_text
from plimsoll.capacity.readers.tables import read_csv
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Step
from plimsoll.requests.step_files import read_steps
from tests.unit.capacity.readers.outputs import FOLDER, NAMES, REFUSED, read, reading_of, text_of

CASES = Path(__file__).parent / "cases"
TEXTS = [name for name in NAMES if name.endswith(".txt") and name not in REFUSED]
HEADER = "clients,throughput_ops_per_second,latency_us.read.p99"
TABLE = f"{HEADER}\n1,700,830\n2,1300,1190\n"


def steps_of(path: Path, *, connections: list[int] | None = None) -> list[Step]:
    """The steps of a file, as the command reads it."""
    given = {"connections": connections or [], "rates": []}
    return read_steps([path], unnamed="mean", units_by_littles_law=True, **given)[0]


def refusal_of(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        steps_of(path)
    return str(caught.value)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "a.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# --- the cases that were tried ---


def test_a_european_table_is_read() -> None:
    steps = steps_of(CASES / "european.csv")
    assert [step.throughput_ops_per_second for step in steps] == [700.5, 1300.4]
    assert [step.latency_us for step in steps] == [
        {"read": {"p99": 830.2}},
        {"read": {"p99": 1190}},
    ]


def test_go_ycsb_without_its_properties_is_read_with_given_connections() -> None:
    path = CASES / "goycsb-without-properties.txt"
    assert "how many connections (threads)? The file does not say" in refusal_of(path)
    (step,) = steps_of(path, connections=[4])
    assert (step.connections, step.throughput_ops_per_second) == (4, 500)
    assert step.latency_us["read"]["p99"] == 9000


def test_scripts_of_one_name_in_two_folders_are_two_operations() -> None:
    (step,) = steps_of(CASES / "pgbench-same-file-name.txt")
    assert step.latency_us == {"read/step": {"mean": 2000}, "write/step": {"mean": 23_000}}
    assert step.shares == {"read/step": 0.5, "write/step": 0.5}


def test_a_script_that_is_given_twice_is_two_operations() -> None:
    text = (CASES / "pgbench-same-file-name.txt").read_text().replace("write/", "read/")
    found = reading_of(text, "a.txt")
    assert found is not None
    assert list(found.step.latency_us) == ["read/step#1", "read/step#2"]


def test_ycsb_without_blanks_is_read() -> None:
    (step,) = steps_of(CASES / "ycsb-no-blank.txt", connections=[1])
    assert (step.throughput_ops_per_second, step.operations) == (100, 1000)
    assert step.latency_us == {"read": {"mean": 900, "p99": 4000}}


@pytest.mark.parametrize("separator", [";", "; ", "\t", " , "])
def test_ycsb_with_another_separator_is_read(separator: str) -> None:
    text = text_of("ycsb-0.17.txt").replace("], ", "]" + separator)
    lines = [
        line.replace(", ", separator) if line[0] == "[" else line for line in text.split("\n")[:-1]
    ]
    found = reading_of("\n".join(lines), "ycsb-0.17.txt")
    assert found == read("ycsb-0.17.txt")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("k6-terminal.txt", "that is k6's text: it rounds its figures: run k6 with --summary-exp"),
        ("sysbench-0.5.txt", "that is sysbench 0.5's output: run it with sysbench 1.0 or 1.1"),
        ("sysbench-fatal.txt", "sysbench printed no report: FATAL: mysql_stmt_execute() returned"),
    ],
)
def test_a_case_that_is_refused_names_its_cure(name: str, message: str) -> None:
    assert refusal_of(CASES / name).startswith(f"{name}: {message}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "pgbench-aborted-with-path.txt",
            "not a whole run: /usr/lib/postgresql/15/bin/pgbench: er",
        ),
        ("pgbench-ended-early.txt", "not a whole run: it ended after 3 of 10 s, as clients were"),
        (
            "pgbench-killed-before.txt",
            "its progress lines end at 10 s and begin again: remove them",
        ),
        ("sysbench-killed-before.txt", "txt output 1: no 'transactions' line: not a database test"),
        (
            "sysbench-checkpoints.txt",
            "checkpoint reports: sysbench counts from 0 after each of the",
        ),
        ("sysbench-forced-shutdown.txt", "not a whole run: FATAL: The --time limit has expired"),
        ("sysbench-fatal-of-gitlab.txt", "not a whole run: FATAL: `thread_run' function failed"),
        ("ycsb-cut.txt", "its sections have 5000 operations, and 10000 were run"),
        ("ycsb-all-failed.txt", "no operation succeeded: it has [...-FAILED] sections alone"),
    ],
)
def test_a_part_of_a_run_is_no_step(name: str, message: str) -> None:
    assert message in refusal_of(CASES / name)


@pytest.mark.parametrize(
    ("name", "load", "figure"),
    [
        ("pgbench-of-github.txt", 4, 2000),
        ("pgbench-of-ansible.txt", 4, 2000),
        ("sysbench-prepare-run-cleanup.txt", 8, 100),
        ("mysql-client.txt", 1, 700.5),
    ],
)
def test_what_stands_around_a_report_is_left_out(name: str, load: int, figure: float) -> None:
    (step,) = steps_of(CASES / name)
    assert (step.connections or step.clients, step.throughput_ops_per_second) == (load, figure)


@pytest.mark.parametrize("name", ["titled-and-appended.csv", "lines-of-json.json"])
def test_tables_that_were_appended_are_one(name: str) -> None:
    steps = steps_of(CASES / name)
    assert [step.throughput_ops_per_second for step in steps] == [700, 1300]
    assert [step.latency_us["read"]["p99"] for step in steps] == [830, 1190]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("units-in-header.csv", "'(ms)' is not part of a name: latencies are microseconds"),
        ("points-for-thousands.csv", "'1.300': is this a decimal point, or does it separate thous"),
        ("shares-in-percent.csv", "the share columns add up to 100: each is a share of the opera"),
    ],
)
def test_a_table_that_could_be_misread_is_refused(name: str, message: str) -> None:
    assert message in refusal_of(CASES / name)


@pytest.mark.parametrize(
    ("cell", "cure"),
    [
        ("n/a", "leave it empty"),
        ("-", "leave it empty"),
        ("NULL", "leave it empty"),
        ("#DIV/0!", "leave it empty"),
        ("45%", "write 45 % as 0.45"),
        ("1'300", "write 1,300 as 1300"),
        ("1 300", "write 1,300 as 1300"),
        ("830us", "leave the unit out; latencies are microseconds"),
    ],
)
def test_a_cell_that_is_no_number_is_told_how_to_be_written(cell: str, cure: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_csv(f"{HEADER}\n1,700,{cell}\n", "a.csv", "mean")
    assert str(caught.value).endswith(f"not a number: {cure}")


@pytest.mark.parametrize(("column", "meant"), [("threads", "connections"), ("tps", "throughput")])
def test_a_column_that_another_program_names_otherwise_has_a_hint(column: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{meant}"):
        read_csv(f"{HEADER},{column}\n1,700,830,9\n", "a.csv", "mean")


def test_a_cell_of_a_column_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="a cell of a column without a name"):
        read_csv(f",{HEADER}\n0,1,700,830\n", "a.csv", "mean")


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"\x1f\x8b\x08\0", "a file of gzip: unpack it with gunzip"),
        (b"PK\x03\x04\x14", "a zip archive or a spreadsheet: unpack it, or save the table as CSV"),
        (b"\0\0\0", "is no text: it has bytes of 0"),
    ],
)
def test_a_file_that_is_no_text_is_named(raw: bytes, what: str, tmp_path: Path) -> None:
    assert what in refusal_of(written(tmp_path, raw))


# --- separators and decimal commas ---


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\n{0};{1};{2}\n1;700.5;830\n",
        "{0}\t{1}\t{2}\n1\t700.5\t830\n",
        "{0}\t{1}\t{2}\n1\t700,5\t830,0\n",
        " {0} | {1} | {2} \n---+---+---\n 1 | 700.5 | 830 \n",
        "| {0} | {1} | {2} |\n|---|---:|---|\n| 1 | 700.5 | 830 |\n",
        "{0}   {1}  {2}\n1         700.5   830  \n",
        '{0},{1},{2}\n1,"700,5","830,0"\n',
        "{0};{1};{2}\n1;0,7005;830\n1;1.700,5;830\n",
    ],
)
def test_a_table_may_have_other_separators_and_decimal_commas(text: str) -> None:
    steps = read_csv(text.format(*HEADER.split(",")), "a.csv", "mean")
    assert [step.latency_us for step in steps] == [{"read": {"p99": 830}}] * len(steps)
    assert steps[-1].throughput_ops_per_second in {700.5, 1700.5}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "1;1,300;830",
            "'1,300': is this a decimal comma, or does it separate thousands? Write 1.3",
        ),
        ("1;700,5;830.25", "'830.25' has a point, but other numbers have decimal commas"),
        ("1;1,300.5;830", "throughput_ops_per_second is '1,300.5', not a number"),
    ],
)
def test_a_number_that_may_mean_two_things_is_refused(rows: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_csv(HEADER.replace(",", ";") + "\n" + rows, "a.csv", "mean")
    assert message in str(caught.value)


def test_decimal_commas_between_commas_are_told_how_to_be_written() -> None:
    with pytest.raises(
        UsageError, match=r"4 cells, but the header has 3 columns \(with decimal com"
    ):
        read_csv(HEADER + "\n1,700,5,830\n", "a.csv", "mean")


@pytest.mark.parametrize("name", ["pgbench-15.txt", "pgbench-scripts.txt", "sysbench-1.0.txt"])
def test_a_report_of_a_locale_with_decimal_commas_is_read(name: str) -> None:
    lines = [
        line.replace(".", ",") if "SQL script" not in line and "(15" not in line else line
        for line in text_of(name).split("\n")
    ]
    assert reading_of("\n".join(lines).replace("sec,", "sec."), name) == read(name)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (
            "sysbench-1.0.txt",
            "transactions:                        160000",
            "transactions: 160,000",
        ),
        ("pgbench-15.txt", "processed: 120000", "processed: 120,000"),
        ("ycsb-0.17.txt", "Operations, 99900", "Operations, 99,900"),
    ],
)
def test_commas_between_thousands_are_never_taken_for_ends_of_numbers(
    name: str, old: str, new: str
) -> None:
    assert old in text_of(name)
    with pytest.raises(UsageError, match=r"without commas between thousands|not a number|again"):
        reading_of(text_of(name).replace(old, new), name)


def test_a_throughput_that_its_own_operations_deny_is_refused() -> None:
    with pytest.raises(UsageError, match=r"is 500, but operations / window_s is 10: leave out"):
        read_csv(f"{HEADER},operations,window_s\n1,500,830,100,10\n", "a.csv", "mean")


# --- what copying and logging add ---


PREFIXES = [
    "2026-11-27T10:00:00.123456789Z ",
    "2026-11-27T10:00:00.123Z stdout F ",
    "[2026-11-27 10:00:00] ",
    "2026-11-27 10:00:00,123 INFO ",
    "Nov 27 10:00:00 db-1 bench[123]: ",
    "Nov 27 10:00:00 db-1 bench: ",
    "Nov 27 10:00:00 ",
    "Fri 2026-11-27 10:00:00 UTC db-1 bench.service[123]: ",
    "bench\tRun it\t2026-11-27T10:00:00.1234567Z ",
    "2026-11-27T10:00:00.123456Z 01O ",
    "2026-11-27 10:00:00,123 - bench - INFO - ",
    "27.11.2026 10:00:00 ",
    "bench.log:12:",
    "#12 0.345 ",
    "+",
    "bench-1  | ",
    "bench-1  | 2026-11-27T10:00:00Z ",
    "[10:00:00] ",
    "> ",
    "    ",
    "\t",
]
WHOLE = {
    **{name: text_of(name) for name in NAMES if name.endswith(".json")},
    "a.csv": TABLE,
    "a.md": "| clients | throughput_ops_per_second |\n|---|---|\n| 1 | 700 |\n",
    "a.json": '[\n  {"clients": 1, "throughput_ops_per_second": 700.5}\n]\n',
}


def figures_of(path: Path) -> list[Step]:
    """The steps of a file, without their source, at a rate if it asks for one."""
    try:
        steps = steps_of(path)
    except UsageError as error:
        assert "--rate" in str(error)  # noqa: PT017 - its load
        steps, _ = read_steps(
            [path], unnamed="mean", connections=[], rates=[1e5], units_by_littles_law=True
        )
    return [step.model_copy(update={"source": None}) for step in steps]


@pytest.mark.parametrize("prefix", [*PREFIXES, "[pod/bench-x7/bench] ", "bench-x7 \u203a bench "])
@pytest.mark.parametrize("name", WHOLE)
def test_prefixes_of_a_log_change_no_table_and_no_json(
    name: str, prefix: str, tmp_path: Path
) -> None:
    alone = figures_of(written(tmp_path, WHOLE[name]))
    lines = WHOLE[name].rstrip("\n").split("\n")
    assert figures_of(written(tmp_path, "".join(f"{prefix}{line}\n" for line in lines))) == alone


def as_log(key: str) -> Callable[[str], str]:
    """Each line as a log has it that is JSON."""
    return lambda text: "".join(
        json.dumps({"time": "10:00", key: f"\x1b[32m{line}\x1b[0m"}) + "\r\n"
        for line in text.rstrip("\n").split("\n")
    )


def numbered(form: str) -> Callable[[str], str]:
    """Each line with its number."""
    return lambda text: "".join(
        form.format(number, line) for number, line in enumerate(text.split("\n"), 1)
    )


def as_task(text: str) -> str:
    """As Ansible prints the result of a command."""
    result = {"changed": True, "rc": 0, "stdout": text, "stdout_lines": text.split("\n")}
    return f"TASK [run]\nok: [db-1] => {json.dumps(result, indent=4)}\n\nPLAY RECAP\n"


def as_notebook(text: str) -> str:
    """As Jupyter keeps it."""
    output = {"output_type": "stream", "text": text.splitlines(keepends=True)}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]}, indent=1)


def as_events(text: str) -> str:
    """As CloudWatch gives a log."""
    events = [{"timestamp": 1, "message": line} for line in text.rstrip("\n").split("\n")]
    return json.dumps({"events": events, "nextToken": "f/1"}, indent=4)


WRAPPERS: dict[str, Callable[[str], str]] = {
    "Ansible": as_task,
    "a field of JSON": lambda text: json.dumps({"Status": "Success", "Output": text, "Error": ""}),
    "a notebook": as_notebook,
    "CloudWatch": as_events,
    "Loki": as_log("line"),
    "Python's bytes": lambda text: repr(text.encode()),
    "Buildkite's times": lambda text: "".join(
        f"\x1b_bk;t=1700000000{number:03d}\x07{line}\n"
        for number, line in enumerate(text.split("\n"))
    ),
    "breaks of a page": lambda text: text.replace("\n", "<br>\n"),
    "a block of a chat": lambda text: f"```{text}```",
    "docker's files": as_log("log"),
    "journalctl -o json": as_log("MESSAGE"),
    "cat -n": numbered("{:6d}\t{}\n"),
    "grep -n": numbered("{}:{}\n"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "a page": lambda text: f"<pre>\n{html.escape(text)}</pre>\n",
    "a block": lambda text: f"```text\n{text}```\n",
    "trailing blanks": lambda text: text.replace("\n", "   \n"),
    "blanks without a width": lambda text: text.replace("\n", "\u200b\n"),
    "blanks that do not break": lambda text: text.replace(" ", "\u00a0"),
    "a title of a terminal": lambda text: f"\x1b]0;root@db: ~\x07{text}",
    "links of a terminal": lambda text: f"\x1b]8;;http://x\x1b\\{text}\x1b]8;;\x1b\\",
    "colors": lambda text: text.replace("\n", "\x1b[0m\n\x1b[32m"),
    "backspaces": lambda text: text.replace("\n", "\b\n"),
    "carriage returns": lambda text: text.replace("\n", "\r\r\n"),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("name", [*TEXTS, *WHOLE])
def test_what_copying_puts_around_a_text_changes_nothing(
    name: str, wrapper: str, tmp_path: Path
) -> None:
    text = WHOLE[name] if name in WHOLE else text_of(name)
    alone = figures_of(written(tmp_path, text))
    assert figures_of(written(tmp_path, WRAPPERS[wrapper](text))) == alone


@pytest.mark.parametrize("name", [name for name in WHOLE if name.endswith(".json")])
def test_json_between_other_lines_is_read(name: str, tmp_path: Path) -> None:
    text = f"root@db:~# cat {name}\n{WHOLE[name]}\nroot@db:~# exit\n"
    assert figures_of(written(tmp_path, text)) == figures_of(written(tmp_path, WHOLE[name]))


def test_json_that_is_cut_off_behind_another_is_not_left_out(tmp_path: Path) -> None:
    whole = text_of("k6-summary-export.json")
    assert "no JSON" in refusal_of(written(tmp_path, whole + whole[: len(whole) // 2]))


AROUND = [
    ("", "user@host:~$ "),
    ("user@host:~/b$ ./bench.sh | tee a.txt\n", "user@host:~/b$ exit\nlogout\n"),
    ("(venv) [root@db-1 bench]# ./bench.sh\n", "(venv) [root@db-1 bench]# \n"),
    ("\u279c  bench git:(main) \u2717 ./bench.sh\n", "\u279c  bench git:(main) \u2717 \n"),
    ("PS C:\\bench> .\\bench.ps1\r\n", "PS C:\\bench> \r\n"),
    ("MariaDB [shop]> TABLE steps;\n", "2 rows in set (0.000 sec)\n\nMariaDB [shop]> Bye\n"),
    ("shop=# TABLE steps;\n", "(2 rows)\n\nshop=# \\q\n"),
    ("[sudo] password for u: \n", "\nreal\t0m10.123s\nuser\t0m1.000s\nsys\t0m0.500s\n"),
    ("[1] 10:00:00 [SUCCESS] db-1\n", "1.2user 0.4system 0:10.12elapsed 16%CPU (9maxresident)k\n"),
    (
        "\x1b[0Ksection_start:1560896352:run\r\x1b[0KRun\n\x1b[32;1m$ ./bench.sh\x1b[0;m\n",
        "\x1b[0Ksection_end:1560896353:run\r\x1b[0K\n\x1b[32;1mJob succeeded\x1b[0;m\n",
    ),
    (
        'Script started on 2026-11-27 10:00:00+00:00 [TERM="xterm"]\r\n\x1b[?2004hu@h:~$ x\r\n\r',
        'u@h:~$ exit\r\n\r\nScript done on 2026-11-27 10:00:10+00:00 [COMMAND_EXIT_CODE="0"]\n',
    ),
    ("+ ./bench.sh\n", "+ echo done\ndone\n"),
    ("  0%|          | 0/9\r100%|#########| 9/9\r\n", "[====>    ] 50%\r[=========] 100%\rdone\n"),
    ("Warning: Permanently added 'db' (ED25519).\r\n", "Connection to db closed.\r\n"),
]  # fmt: skip
TABLES = {
    "a.csv": TABLE,
    "of blanks": TABLE.replace(",", "   "),
    "of tabs": TABLE.replace(",", "\t"),
    "of psql": " "
    + TABLE.replace(",", " | ").replace("99\n", "99\n---+---+---\n", 1).replace("\n", "\n "),
}


@pytest.mark.parametrize("around", AROUND, ids=lambda around: around[0][:12] + around[1][:12])
@pytest.mark.parametrize("table", TABLES)
def test_what_stands_around_a_table_is_left_out(
    table: str, around: tuple[str, str], tmp_path: Path
) -> None:
    text = f"{around[0]}{TABLES[table].rstrip()}\n{around[1]}"
    assert figures_of(written(tmp_path, text)) == figures_of(written(tmp_path, TABLE))


LOGGED = [
    ("2026-11-27T10:00:0{}.1234567Z ", "##[group]Run ./bench.sh", "Post job cleanup."),
    ("2026-11-27T10:00:00.12345{}Z 01O ", "\x1b[32;1m$ ./bench.sh\x1b[0;m", "Job succeeded"),
]


@pytest.mark.parametrize(("prefix", "before", "after"), LOGGED)
def test_a_table_within_the_log_of_a_pipeline_is_read(
    prefix: str, before: str, after: str, tmp_path: Path
) -> None:
    lines = [before, *TABLE.rstrip().split("\n"), after]
    text = "".join(f"{prefix.format(number)}{line}\n" for number, line in enumerate(lines))
    assert figures_of(written(tmp_path, text)) == figures_of(written(tmp_path, TABLE))


def test_a_table_within_a_journal_is_read(tmp_path: Path) -> None:
    host = "Nov 27 10:00:00 db-1"
    text = "".join(f"{host} bench.sh[123]: {line}\n" for line in TABLE.rstrip().split("\n"))
    head = "-- Journal begins at Fri 2026-11-27 09:00:00 UTC. --\n"
    tail = f"{host} systemd[1]: bench.service: Deactivated successfully.\n"
    assert figures_of(written(tmp_path, head + text + tail)) == figures_of(written(tmp_path, TABLE))


def test_digits_before_a_cell_are_never_taken_for_its_own(tmp_path: Path) -> None:
    text = "".join(f"t=170{line}\n" for line in TABLE.rstrip().split("\n"))
    assert "unknown column 't=170clients'" in refusal_of(written(tmp_path, text))


@pytest.mark.parametrize("row", ["2,13", "1,300", "4;", "700", "9 ms"])
def test_a_row_of_too_few_cells_with_a_number_is_refused(row: str, tmp_path: Path) -> None:
    assert "a.txt row 4: " in refusal_of(written(tmp_path, f"{TABLE}{row}\n"))


def test_results_of_several_machines_are_a_load_line(tmp_path: Path) -> None:
    heavier = text_of("pgbench-15.txt").replace("clients: 4", "clients: 8")
    steps = steps_of(written(tmp_path, as_task(text_of("pgbench-15.txt")) + as_task(heavier)))
    assert [step.connections for step in steps] == [4, 8]


def test_an_output_beside_one_within_json_is_the_one_that_is_read(tmp_path: Path) -> None:
    other = json.dumps({"last": text_of("pgbench-15.txt").replace("clients: 4", "clients: 8")})
    (step,) = steps_of(written(tmp_path, f"{text_of('pgbench-15.txt')}{other}\n"))
    assert step.connections == 4


def test_an_output_within_json_that_is_not_read_is_named(tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, as_task("Op rate : 9\ntype       total ops,  op/s\n")))
    assert "that is cassandra-stress's output" in refusal


def test_json_with_other_text_between_its_lines_is_named(tmp_path: Path) -> None:
    lines = text_of("k6-summary-export.json").split("\n")
    text = "\n".join(f"k6-1  | {line}\ndb-1  | checkpoint" for line in lines)
    refusal = refusal_of(written(tmp_path, text))
    assert refusal == "a.txt: k6's JSON between other lines: give the JSON alone"


def test_a_table_whose_rows_have_different_prefixes_is_refused(tmp_path: Path) -> None:
    rows = ["run | clients | throughput_ops_per_second", "a | 1 | 700", "b | 2 | 1300"]
    assert "unknown column 'run'" in refusal_of(written(tmp_path, "\n".join(rows)))


@pytest.mark.parametrize("text", ["===== 8 =====\n{}", "sysbench --threads=16 --time=20\n{}"])
def test_signs_of_equality_are_no_mail(text: str, tmp_path: Path) -> None:
    name = "sysbench-1.0.txt"
    assert figures_of(written(tmp_path, text.format(text_of(name)))) == figures_of(FOLDER / name)


@pytest.mark.parametrize("width", [72, 80, 100])
def test_rows_that_were_broken_at_a_column_are_refused(width: int) -> None:
    lines = text_of("go-ycsb-plain.txt").split("\n")
    wrapped = "\n".join(part for line in lines for part in textwrap.wrap(line, width) or [""])
    with pytest.raises(UsageError, match="its lines are broken: copy them whole: "):
        reading_of(wrapped, "a.txt")


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", TEXTS)
def test_prefixes_of_a_log_change_nothing(name: str, prefix: str) -> None:
    text = "\n".join(prefix + line for line in text_of(name).split("\n"))
    assert reading_of(text, name) == read(name)


@pytest.mark.parametrize("name", TEXTS)
def test_what_stands_around_changes_nothing(name: str) -> None:
    assert reading_of(f"$ ./bench.sh\n{text_of(name)}\n$ exit\n", name) == read(name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_what_powershell_writes_is_read(encoding: str, tmp_path: Path) -> None:
    raw = text_of("pgbench-15.txt").replace("\n", "\r\n").encode(encoding)
    (step,) = steps_of(written(tmp_path, raw))
    assert step.throughput_ops_per_second == 2000.5


def test_a_letter_of_another_encoding_hides_no_report(tmp_path: Path) -> None:
    raw = "Banc d'essai terminé\n".encode("latin-1") + text_of("pgbench-15.txt").encode()
    (step,) = steps_of(written(tmp_path, raw))
    assert step.throughput_ops_per_second == 2000.5


def test_a_prefix_has_to_stand_before_two_lines_of_a_report() -> None:
    text = text_of("pgbench-15.txt")
    assert reading_of(text + "last week: tps = 900.0 (without it)\n", "a.txt") == reading_of(
        text, "a.txt"
    )


def test_json_outputs_of_a_loop_in_one_file_are_read_apart(tmp_path: Path) -> None:
    steps = steps_of(written(tmp_path, 2 * text_of("k6-summary-export.json")))
    assert [step.source for step in steps] == ["a.txt output 1", "a.txt output 2"]


def test_outputs_of_a_loop_in_one_file_are_a_load_line(tmp_path: Path) -> None:
    heavier = text_of("pgbench-15.txt").replace("clients: 4", "clients: 8")
    steps = steps_of(written(tmp_path, text_of("pgbench-15.txt") + heavier))
    assert [(step.source, step.connections) for step in steps] == [
        ("a.txt output 1", 4),
        ("a.txt output 2", 8),
    ]


def test_go_ycsb_figures_of_two_runs_without_properties_are_not_mixed() -> None:
    text = (CASES / "goycsb-without-properties.txt").read_text()
    with pytest.raises(UsageError, match="several outputs"):
        reading_of(text + text, "a.txt")


# --- several outputs in one file ---


READ = {
    "pgbench": text_of("pgbench-15.txt"),
    "sysbench": text_of("sysbench-1.0.txt"),
    "YCSB": text_of("ycsb-0.17.txt"),
    "k6": text_of("k6-summary-export.json"),
    "latte": text_of("latte-0.29.json"),
    "a table of steps": TABLE,
}


@pytest.mark.parametrize(("first", "second"), [*permutations(READ, 2)])
def test_outputs_of_several_programs_are_refused_by_name(
    first: str, second: str, tmp_path: Path
) -> None:
    refusal = refusal_of(written(tmp_path, READ[first] + READ[second]))
    assert first in refusal
    assert second in refusal
    assert "they are no one load line: give each a file of its own" in refusal


def test_files_of_several_programs_are_no_one_load_line(tmp_path: Path) -> None:
    files = [tmp_path / "p.txt", tmp_path / "s.txt"]
    for file, program in zip(files, ("pgbench", "sysbench"), strict=True):
        file.write_text(READ[program])
    with pytest.raises(
        UsageError, match=r"p\.txt is pgbench's and s\.txt is sysbench's: outputs of"
    ):
        read_steps(files, unnamed="mean", connections=[], rates=[], units_by_littles_law=True)


BESIDE = {
    "fio's output": "a: (g=0): rw=randread\nfio-3.33\n  read: IOPS=1000, BW=3.9MiB/s\n",
    "k6's text": (CASES / "k6-terminal.txt").read_text(),
    "sysbench's report_json": text_of("sysbench-1.1-report_json.txt"),
    "pgbench's output": "pgbench (15.18)\nstarting vacuum...end.\nprogress: 1.0 s, 90.0 tps\n",
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("name", ["sysbench-1.0.txt", "ycsb-0.17.txt"])
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_left_out_of_a_file_is_named(
    name: str, beside: str, is_first: bool, tmp_path: Path
) -> None:
    parts = [BESIDE[beside], text_of(name)] if is_first else [text_of(name), BESIDE[beside]]
    steps, told = read_steps(
        [written(tmp_path, "\n".join(parts))],
        unnamed="mean",
        connections=[],
        rates=[],
        units_by_littles_law=True,
    )
    assert [step.throughput_ops_per_second for step in steps] == [
        read(name).step.throughput_ops_per_second
    ]
    assert told == [f"a.txt: {beside} in the same file is left out"]


@pytest.mark.parametrize("beside", BESIDE)
def test_a_table_beside_what_is_not_read_is_refused(beside: str, tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, BESIDE[beside] + TABLE))
    assert beside in refusal or "is sysbench's report_json" in refusal


def test_a_run_that_failed_before_another_is_not_left_out(tmp_path: Path) -> None:
    failed = (CASES / "sysbench-fatal.txt").read_text()
    refusal = refusal_of(written(tmp_path, failed + text_of("sysbench-1.0.txt")))
    assert "a.txt output 1: not a whole run: FATAL: mysql_stmt_execute()" in refusal


def test_a_report_of_sysbench_0_5_beside_another_is_not_left_out(tmp_path: Path) -> None:
    older = (CASES / "sysbench-0.5.txt").read_text()
    refusal = refusal_of(written(tmp_path, text_of("sysbench-1.0.txt") + older))
    assert "a.txt output 2: no 'Latency (ms):': sysbench 0.5's report, or cut off" in refusal


@pytest.mark.parametrize(
    ("name", "run", "load"),
    [
        ("ycsb-0.17.txt", "-threads 8 -t", "-threads 8 -load"),
        ("go-ycsb-plain.txt", '"dotransactions"="true"', '"dotransactions"="false"'),
    ],
)
def test_the_phase_that_fills_the_table_is_left_out(name: str, run: str, load: str) -> None:
    filling = text_of(name).replace(run, load)
    (found,) = read_text(filling + text_of(name), name)
    assert found.step == read(name).step
    assert "the phase `load`, which fills the table, is left out" in found.notes[-1]
    (alone,) = read_text(filling, name)
    assert alone.step == found.step, "alone it is a load of inserts"


@pytest.mark.parametrize(
    "header", ["# of Monday\n" + HEADER, f"#{HEADER}", "# " + HEADER.replace(",", "  ")]
)
def test_comments_of_a_table_are_left_out(header: str) -> None:
    between = "  " if "  " in header else ","
    (step,) = read_csv(f"{header}\n{between.join(('1', '700', '830'))}\n# end\n", "a", "mean")
    assert (step.clients, step.latency_us) == (1, {"read": {"p99": 830}})


def test_tables_of_the_same_columns_are_one_in_any_order() -> None:
    other = "latency_us.read.p99,clients,throughput_ops_per_second\n1190,2,1300\n"
    text = f"{HEADER}\n1,700,830\n\n{other}"
    steps = read_csv(text, "a.csv", "mean")
    assert [(step.clients, step.throughput_ops_per_second) for step in steps] == [
        (1, 700),
        (2, 1300),
    ]
    with pytest.raises(UsageError, match="row 4: a second table with other columns: give it a fi"):
        read_csv(text.replace("\nlatency_us.read", "\nlatency_us.update"), "a.csv", "mean")


# --- aborted and partial runs ---


ABORTED = [
    (
        "pgbench-15.txt",
        "pgbench (15.18",
        "pgbench: error: client 2 script 0 aborted in command 5 query 0: ERROR\npgbench (15",
        "not a whole run: pgbench: error: client 2 script 0 aborted",
    ),
    (
        "pgbench-15.txt",
        "tps = 2000.5",
        "Run was aborted; the above results are incomplete.\ntps = 2000.5",
        "not a whole run: Run was aborted; the above results are incomplete",
    ),
    ("pgbench-13.txt", "10000/10000", "9000/10000", "9000 of 10000 transactions were made"),
    (
        "sysbench-1.0.txt",
        "SQL statistics",
        "FATAL: mysql_stmt_execute() returned error 2013\nSQL statistics",
        "not a whole run: FATAL: mysql_stmt_execute",
    ),
    ("sysbench-1.1.txt", "[ 10s ] thds: 16", "[ 10s ] thds: 3", "3 of 16 threads ran at 10 s"),
    (
        "ycsb-0.17.txt",
        "[CLEANUP], Operations, 8",
        "[CLEANUP], Operations, 5",
        "not a whole run: 5 of 8 threads came to its end",
    ),
    (
        "ycsb-0.17.txt",
        "[OVERALL], RunTime",
        "site.ycsb.DBException: Communications link failure\n[OVERALL], RunTime",
        "not a whole run: site.ycsb.DBException",
    ),
    ("go-ycsb-plain.txt", "Run finished", "Got signal [interrupt]\nRun finished", "Got signal"),
    ("wrk2.txt", "Running 30s", "Running 5m", "not a whole run: it ended after 30 of 300 s"),
    ("wrk2.txt", "connect 0", "connect 90", "90 of 100 connections could not be made"),
    ("latte-0.29.json", '"elapsed_time_s": 60.0', '"elapsed_time_s": 12.0', "after 12 of 60 s"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "message"), ABORTED)
def test_an_aborted_run_is_no_step(name: str, old: str, new: str, message: str) -> None:
    assert old in text_of(name)
    with pytest.raises(UsageError) as caught:
        reading_of(text_of(name).replace(old, new), name)
    assert message in str(caught.value)


CUT = [
    ("sysbench-1.0.txt", "59.99", 1, "no 'Threads fairness:': the report is cut off"),
    ("pgbench-scripts.txt", "1.000 ms\n", 1, "the figures of script buy are cut off"),
    (
        "pgbench-scripts.txt",
        "SQL script 2",
        0,
        "its scripts have 37500 transactions, and 50000 were pro",
    ),
    ("wrk2.txt", "2000.00", 1, "no 'requests in', 'Requests/sec:' or 'connections' line: cut off"),
    ("ycsb-0.17.txt", "9900\n[UPDATE], Return", 2, "[UPDATE] has no Return= at its end"),
    ("ycsb-0.17.txt", "[UPDATE], 99th", 0, "[UPDATE] has no Return= at its end"),
    (
        "go-ycsb-plain.txt",
        "UPDATE - Takes(s): 20.0",
        0,
        "its operations are 100000, and TOTAL is 1",
    ),
    ("go-ycsb-plain.txt", "2900, 99.9th(us): 7000", 2, "the figures of UPDATE are cut off"),
    ("go-ycsb-plain.txt", "TOTAL  - Takes(s): 20.0", 0, "cut off: no TOTAL after 'Run finished'"),
]


@pytest.mark.parametrize(("name", "at", "kept", "message"), CUT)
def test_a_figure_at_which_a_report_was_cut_is_not_read(
    name: str, at: str, kept: int, message: str
) -> None:
    text = text_of(name)
    whole = text if name == "sysbench-1.0.txt" else ""  # cut alone, it is no report
    with pytest.raises(UsageError) as caught:
        read_text(whole + text[: text.rindex(at) + kept], name)
    assert message in str(caught.value)


def test_connections_that_sysbench_opened_again_are_said() -> None:
    text = text_of("sysbench-1.0.txt").replace(
        "reconnects:                          0", "reconnects: 12"
    )
    found = reading_of(text, "a.txt")
    assert found is not None
    assert "connections were lost and opened again" in found.notes[0]


def test_threads_that_finish_their_last_transaction_are_no_lost_threads() -> None:
    text = text_of("sysbench-1.1.txt").replace("[ 20s ] thds: 16", "[ 20s ] thds: 3")
    assert reading_of(text, "sysbench-1.1.txt") == read("sysbench-1.1.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pgbench (15.18)\nprogress: 1.0 s, 90.0 tps, lat 0.4 ms\n", "pgbench printed no report: "),
        (
            "pgbench: error: connection to server at 127.0.0.1 failed: Connection refused\n",
            "pgbench printed no report: pgbench: error: connection to server at 127.0.0.1 failed",
        ),
        ("2026-11-27 10:00:00:000 10 sec: 100 operations; 10 ops/sec\n", "YCSB printed no report"),
        (
            "[READ], Operations, 5\n[READ], Return=OK, 5\n",
            "YCSB printed no report: the output is cu",
        ),
        (
            "unable to connect to a:80 Connection refused\n",
            "wrk2 printed no report: unable to conn",
        ),
        ("creating tables...\n100 of 100 tuples (100%) done\n", "pgbench printed no report: the o"),
        (
            "Run finished, takes 20.0s\n+------+\n| READ |\n",
            "that is go-ycsb's table: run it with -p outputstyle=plain or json",
        ),
        (
            "Running 30s test @ http://a/\nunable to connect to a:80\n",
            "wrk2 printed no report: unab",
        ),
        ("ERRO[0030] test run was aborted because k6 rec\n", "k6 printed no report: ERRO[0030]"),
        (
            "tps = 2000.1 (without initial connection time)\n",
            "pgbench printed no report: the output",
        ),
        (
            "    transactions:   160 (1333.21 per sec.)\n",
            "sysbench printed no report: the output is",
        ),
        ("READ,1700000000000,1234\n", "that is YCSB's latencies of single operations: give the re"),
        ("info: Connecting to [127.0.0.1]...\n", "that is latte's text: give the JSON report"),
        ("-[ RECORD 1 ]-\nclients | 1\n", "that is a query's result of one line for each cell: ru"),
        (f"{'*' * 27} 1. row {'*' * 27}\nclients: 1\n", r"run it without \x (psql) or \G (mysql)"),
        (
            "<!DOCTYPE html><html></html>",
            "that is a page of HTML: copy its text, or its table as C",
        ),
        ("- clients: 1\n  window_s: 9\n", "that is a table in YAML: give it as JSON or CSV"),
        ("  clients window_s\n0       1        9\n", "leave out what numbers the rows"),
        ("bench-1 | sysbench 1.0.20 (using\nbench-1 | FATAL: no\n", "printed no report: FATAL: no"),
    ],
)
def test_an_output_without_its_report_is_named(text: str, message: str, tmp_path: Path) -> None:
    assert message in refusal_of(written(tmp_path, text))


# --- programs whose outputs are recognized and not read ---


UNREAD = {
    "HammerDB     ": "hammerdb>loadscript\nScript loaded\n",
    "cassandra-stress   ": "******** Stress Settings ********\nCommand:\n  Type: write\n",
    "oha ": "request-start,DNS,DNS+dialup,Response-delay\n0.1,0,0,0.1\n",
    "cassandra-stress  ": "id, type       total ops,    op/s\n4 threadCount, total,  10000,   9\n",
    "siege": "Transactions:\t\t1000 hits\nAvailability:\t\t100.00 %\n",
    "HammerDB  ": '{"64B2C": {"db": "MariaDB", "activevu": "4", "nopm": "129416"}}',
    "HammerDB   ": '{"NEWORD": {"calls": "9", "avg_ms": "2.1", "ratio_pct": "56.0"}}',
    "HammerDB    ": "0 MySQL tpm\n77940 MySQL tpm\n",
    "mysqlslap  ": "mariadb-slap: Error when connecting to server: 2002\n",
    "fio   ": "1, 4096, 0, 4096, 0\n2, 4096, 0, 4096, 0\n",
    "HammerDB ": ">>>>> PROC: NEWORD\nCALLS: 100  MIN: 1.2ms AVG: 3.4ms\n",
    "cassandra-stress ": "type       total ops,    op/s,    pk/s\ntotal,  10000,   10000,   9\n",
    "NoSQLBench ": "t,count,max,mean,min,stddev,p50,p75,p95\n1,2,3,4,5,6,7,8,9\n",
    "mysqlslap ": "innodb,mixed,0.135,0.130,0.140,10,100\n",
    "fio  ": "3;fio-3.33;job;0;0;100;200;300\n",
    "JMeter  ": "1700000000000,12,read,200,OK,Thread Group 1-1,text,true\n",
    "oha": "Summary:\n  Success rate:\t100.00%\n\nResponse time histogram:\n  0.001 sec [1] |\n",
    "hey": "Summary:\n  Total:\t10.0 secs\n\nResponse time histogram:\n  0.001 [1]\t|\n",
    "vegeta": '{"latencies":{"total":1,"mean":2},"requests":100,"throughput":9.9}',
    "Locust ": "Timestamp,User Count,Type,Name,Requests/s\n170,10,GET,/,10\n",
    "go-tpc": "[Current] NEW_ORDER - Takes(s): 9.9, Count: 100, TPM: 100.0\n",
    "tpcc-mysql": "  10, trx: 2000, 95%: 12.3, 99%: 20.1, max_rt: 30.4, 1999|100.0\n",
    "autocannon": "Running 10s test @ http://localhost:3000\n10 connections\n",
    "Gatling": "RUN\tsim\tx\t1700000000000\t \t3.9.0\n",
    "HammerDB": "Vuser 1:4 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved"
    " 7204 NOPM from 16611 MySQL TPM\n",
    "benchbase": "[INFO ] 2026-11-27 10:00:00,000 [main]  com.oltpbenchmark.DBWorkload main - ",
    "benchbase ": '{"Goodput (requests/second)": 100.0, "Latency Distribution": {}}',
    "benchbase  ": "Time (seconds),Throughput (requests/second),Average Latency\n0,1,2\n",
    "cassandra-stress": "Results:\nOp rate                   :   12,000 op/s\n",
    "fio": "randwrite: (g=0): rw=randwrite\nfio-3.33\n  write: IOPS=2000, BW=7.8MiB/s\n",
    "fio ": '{"fio version": "fio-3.33", "jobs": []}',
    "NoSQLBench": "cycles_servicetime\n             count = 1000000\n",
    "mysqlslap": "Benchmark\n\tAverage number of seconds to run all queries: 1.234 seconds\n",
    "JMeter": "timeStamp,elapsed,label,responseCode\n1700000000000,12,read,200\n",
    "JMeter ": "summary =    600 in 00:00:10 =   60.0/s Avg:     9 Min:     2\n",
    "Locust": "Type,Name,Request Count,Failure Count\nGET,/,10,0\n",
    "ab": "This is ApacheBench, Version 2.3\nRequests per second:    60.00 [#/sec] (mean)\n",
}  # fmt: skip


@pytest.mark.parametrize("program", UNREAD)
def test_a_program_that_is_not_read_is_named_with_what_to_do(program: str, tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, UNREAD[program]))
    assert refusal.startswith(
        f"a.txt: that is {program.strip()}'s output: Plimsoll does not read it"
    )
    assert "a table with these columns does: clients,throughput_ops_per_second" in refusal


@pytest.mark.parametrize("name", NAMES)
def test_no_output_that_is_read_is_taken_for_another(name: str, tmp_path: Path) -> None:
    if name not in REFUSED:
        path = tmp_path / name
        path.write_text(text_of(name))
        try:
            steps_of(path)
        except UsageError as error:
            assert "Give --" in str(error) or "give --" in str(error)  # noqa: PT017 - its load


def test_sysbench_s_json_is_named(tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, text_of("sysbench-1.1-report_json.txt")))
    assert "that is sysbench's report_json: it does not say which percentile" in refusal


@pytest.mark.parametrize(
    "text",
    [
        "0 1 failed 0 1700000000 12345\n0 2 2513 0 1700000000 12349\n",
        "1700000000 5815 27552565 177846919143 1078 60103\n",
    ],
)
def test_logs_of_pgbench_are_named(text: str, tmp_path: Path) -> None:
    assert "that is a file of pgbench -l" in refusal_of(written(tmp_path, text))


def test_pgbench_in_another_language_is_named(tmp_path: Path) -> None:
    text = text_of("pgbench-15.txt")
    for english, german in (
        ("transaction type", "Transaktionstyp"),
        ("query mode", "Anfragemodus"),
        ("number of transactions actually processed", "Anzahl verarbeiteter Transaktionen"),
        ("without initial connection time", "ohne initiale Verbindungszeit"),
    ):
        text = text.replace(english, german)
    refusal = refusal_of(written(tmp_path, text))
    assert refusal.endswith("pgbench's report in another language: run it with LC_MESSAGES=C")


def test_latte_s_log_is_named(tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, "LOG ═══════\n    Time  Cycles\n   1.000    100\n"))
    assert refusal.endswith("that is latte's text: give the JSON report that latte run saves")


def test_a_table_without_its_header_is_told_what_is_missing(tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, "1,700,830\n2,1300,1190\n"))
    assert "row 1 has numbers alone: the line of columns above it is missing" in refusal


def test_unknown_columns_are_those_of_tables_alone(tmp_path: Path) -> None:
    assert "neither a table" in refusal_of(written(tmp_path, "Dear all,\nhere it is\n"))
    assert "unknown column 'clnts'" in refusal_of(written(tmp_path, "clnts,ops\n1,2\n"))

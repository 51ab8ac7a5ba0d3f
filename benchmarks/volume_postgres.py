"""PostgreSQL on emulated volumes: `python -m benchmarks.volume_postgres [--direct]`.

Reads rows at random from a table several times the memory of an instance of RDS as it is on one
machine (64 MiB: shared buffers of 16, a page cache of 32), with 1 to 64 clients, on volumes of 500
to 2,000 IOPS. `--direct` reads past the page cache, with shared buffers of 48 MiB. Needs pgbench
(on Debian: apt-get install postgresql-contrib).
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from benchmarks.volume_fio import table
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.aws.volumes import Volume, rates
from plimsoll.model.aws.volumes_seen import host_bound
from plimsoll.volumes import EmulatedVolume, VolumeSettings

READS = ("-S", "-n", "-Mprepared")
SCALE = 30  # of pgbench: 3 million rows, 384 MiB and 64 MiB of their index
BUFFERED: tuple[dict[str, str | int], int] = ({"shared_buffers": "16MB"}, 32)
DIRECT: tuple[dict[str, str | int], int] = (
    {"shared_buffers": "48MB", "debug_io_direct": "data,wal"},
    0,
)


def pgbench(server: PostgresServer, *options: str) -> "subprocess.Popen[str]":
    """Start pgbench against a server."""
    return subprocess.Popen(
        ["pgbench", "--host", server.host, "--port", str(server.port), *options],
        env={
            **os.environ,
            "PGUSER": server.user,
            "PGPASSWORD": server.password,
            "PGDATABASE": server.database,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def printed(running: "subprocess.Popen[str]") -> str:
    """Wait for pgbench's end; give what it prints."""
    out, _ = running.communicate()
    if running.returncode:
        sys.exit(f"pgbench failed: {out}")
    return out


def _figures(text: str) -> tuple[float, float]:
    """Give transactions per second and their mean latency in ms."""
    rate = re.search(r"^tps = ([\d.]+)", text, re.MULTILINE)
    mean = re.search(r"^latency average = ([\d.]+) ms", text, re.MULTILINE)
    assert rate
    assert mean
    return float(rate[1]), float(mean[1])


def plateau(
    directory: Path,
    iops_list: Sequence[int],
    seconds: int,
    settings: dict[str, str | int],
    mib: int,
) -> Iterator[tuple[object, ...]]:
    """Measure reads per second and latency against clients, for each IOPS."""
    server_directory = directory / "volume" / "server"
    server = PostgresServer.start(directory=server_directory, settings={"shared_buffers": "256MB"})
    printed(pgbench(server, "--initialize", "--quiet", f"--scale={SCALE}"))
    server.stop()
    for iops in iops_list:
        volume = Volume(type="io1", size_gib=1_000, iops=iops)
        cache = VolumeSettings(page_cache_mib=mib)
        with EmulatedVolume.create(directory / "volume", volume, settings=cache) as on:
            running = PostgresServer.start(
                directory=server_directory, settings=settings, environment=on.environment()
            )
            # until both caches are full
            printed(pgbench(running, *READS, "-c8", f"-T{30_000 // iops}"))
            for clients in (1, 4, 16, 64):
                connected_s = 3 + clients // 8
                load = pgbench(running, *READS, f"-c{clients}", f"-T{connected_s + seconds + 1}")
                time.sleep(connected_s)
                before = on.sample()
                time.sleep(seconds)
                after = on.sample()
                got, mean_ms = _figures(printed(load))
                seen = rates(before, after)
                yield (
                    f"{iops:,}",
                    clients,
                    f"{got:,.0f}",
                    f"{mean_ms:.2f}",
                    f"{seen.read_iops + seen.write_iops:,.0f}",
                    f"{seen.read_iops / got:.3f}",
                    f"{100 * (host_bound(before, after).late_time_share or 0):.1f} %",
                )
            running.stop()


@click.command()
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
@click.option("--iops", multiple=True, type=int, default=(500, 1_000, 2_000))
@click.option("--seconds", default=8)
@click.option("--direct", is_flag=True)
def main(base: Path | None, iops: tuple[int, ...], seconds: int, direct: bool) -> None:
    """Run the benchmark in a scratch folder under --dir."""
    settings, mib = DIRECT if direct else BUFFERED
    with tempfile.TemporaryDirectory(dir=base, prefix="plimsoll-benchmark-") as scratch:
        head = "IOPS set | clients | reads/s | mean ms | I/Os per s | I/Os a read | the machine's"
        table(head, plateau(Path(scratch), iops, seconds, settings, mib))


if __name__ == "__main__":
    main()

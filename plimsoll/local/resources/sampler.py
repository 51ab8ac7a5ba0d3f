"""Once a second: what a database's volume and processor did, to CloudWatch under RDS's names.

https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html. RDS publishes once a
minute; a run on one machine is too short for that. `HostLateShare` is the twin's own: the percent
of the time in I/O that was this machine's, not the volume's.
"""

import datetime as dt
import os
import threading
import time
from pathlib import Path

from moto.cloudwatch.models import cloudwatch_backends

from plimsoll.local.aws.names import ACCOUNT, REGION
from plimsoll.local.volumes import EmulatedVolume
from plimsoll.model.volume_samples import VolumeRates, VolumeSample, rates

NAMESPACE = "AWS/RDS"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float | None:
    """Read how much processor time a process has used; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def metrics(seen: VolumeRates, cpu_percent: float | None) -> dict[str, tuple[float, str]]:
    """Give RDS's metrics (value, unit) by name; one that is not known is left out."""
    known: dict[str, tuple[float | None, str]] = {
        "ReadIOPS": (seen.read_iops, "Count/Second"),
        "WriteIOPS": (seen.write_iops, "Count/Second"),
        "ReadThroughput": (seen.read_mib_s * 2**20, "Bytes/Second"),
        "WriteThroughput": (seen.write_mib_s * 2**20, "Bytes/Second"),
        "ReadLatency": (_seconds(seen.read_latency_us), "Seconds"),
        "WriteLatency": (_seconds(seen.write_latency_us), "Seconds"),
        "DiskQueueDepth": (seen.queue, "Count"),
        "BurstBalance": (seen.burst_balance_percent, "Percent"),
        "HostLateShare": (_percent(seen.late_share), "Percent"),
        "CPUUtilization": (cpu_percent, "Percent"),
    }
    return {name: (value, unit) for name, (value, unit) in known.items() if value is not None}


def _seconds(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


class Sampler:
    """Publishes one database's figures until it is closed."""

    def __init__(self, identifier: str, volume: EmulatedVolume, pid: int) -> None:
        self._identifier = identifier
        self._volume = volume
        self._pid = pid
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until it has stopped: the volume may then be taken away."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        before, cpu_before = self._volume.sample(), cpu_seconds(self._pid)
        due = time.monotonic() + 1
        while not self._closed.wait(max(0.0, due - time.monotonic())):
            due += 1
            after, cpu = self._volume.sample(), cpu_seconds(self._pid)
            used = None if cpu is None or cpu_before is None else cpu - cpu_before
            self._publish(before, after, used)
            before, cpu_before = after, cpu

    def _publish(self, before: VolumeSample, after: VolumeSample, cpu_s: float | None) -> None:
        seen = rates(before, after)
        cores = os.cpu_count() or 1
        cpu_percent = None if cpu_s is None else 100 * cpu_s / seen.interval_s / cores
        at = dt.datetime.fromtimestamp(after.epoch_ms / 1000, dt.UTC).replace(tzinfo=None)
        dimensions = [{"Name": "DBInstanceIdentifier", "Value": self._identifier}]
        cloudwatch_backends[ACCOUNT][REGION].put_metric_data(
            NAMESPACE,
            [
                {
                    "MetricName": name,
                    "Dimensions": dimensions,
                    "Timestamp": at,
                    "Value": value,
                    "Unit": unit,
                }
                for name, (value, unit) in metrics(seen, cpu_percent).items()
            ],
        )

"""Processor time of a twin's stand-in for AWS: `python -m benchmarks.twin_calls`.

Starts three twins one after the other, and prints the median over them of the CPU time until one
has started, and of each of its answers to a call (user and system, of the server's process alone).
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psutil

from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import Setting

TWINS = 3
CALLS = 500
FIRST_CALLS = 30  # not counted: they load what a service needs
BODY = b"a" * 2000
KEY = {"key": {"S": "a"}}
ITEM = {
    **KEY,
    **{f"text{n}": {"S": "a" * 20} for n in range(15)},
    **{f"number{n}": {"N": "1"} for n in range(10)},
    "map": {"M": {f"text{n}": {"S": "a"} for n in range(8)}},
}


def main() -> None:
    """Print the table."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(TWINS):
        with tempfile.TemporaryDirectory() as folder, LocalTwin(Path(folder) / "twin") as twin:
            measure_twin(twin, found)
    for what, values in found.items():
        print(f"{what:32}{1e3 * median(values):9.2f} ms of CPU")


def measure_twin(twin: LocalTwin, found: dict[str, list[float]]) -> None:
    """Add what one twin took, in seconds."""
    [server] = [
        process
        for process in psutil.Process().children()
        if "plimsoll.local.aws.server" in process.cmdline()
    ]
    found["start"].append(read_cpu_s(server))
    files, tables = twin.client("s3"), twin.client("dynamodb")
    place = {"Bucket": twin.settings[Setting.RESULTS_BUCKET], "Key": "a"}
    tables.create_table(
        TableName="a",
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    tables.put_item(TableName="a", Item=ITEM)
    calls: dict[str, Callable[[], object]] = {
        "S3: write 2,000 bytes": lambda: files.put_object(**place, Body=BODY),
        "S3: read them": lambda: len(files.get_object(**place)["Body"].read()),
        "DynamoDB: read an item": lambda: tables.get_item(TableName="a", Key=KEY),
        "DynamoDB: list the tables": tables.list_tables,
    }
    for what, call in calls.items():
        for _ in range(FIRST_CALLS):
            call()
        before_s = read_cpu_s(server)
        for _ in range(CALLS):
            call()
        found[what].append((read_cpu_s(server) - before_s) / CALLS)


def read_cpu_s(process: psutil.Process) -> float:
    """Return a process's CPU time, in seconds."""
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    main()

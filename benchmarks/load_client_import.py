"""How long a load client takes to import its handler, and which modules take longest.

    python -m benchmarks.load_client_import [--repetitions 20]

A cold start of the Lambda function `load-client` waits for that, and a step waits for its slowest
client. Each repetition is an interpreter of its own. CPU time changes little beside other work;
wall time is of this machine while it does nothing else. Modules by Python's own `-X importtime`:
each without what it imports itself.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.functions import FUNCTIONS

PROJECT = Path(__file__).parents[1]
SHOWN = 10
IMPORT = """
import json, time
clocks = {"wall_ms": time.perf_counter, "cpu_ms": time.process_time}
began = {name: clock() for name, clock in clocks.items()}
import functions.load_client.handler
print(json.dumps({name: 1e3 * (clock() - began[name]) for name, clock in clocks.items()}))
"""


def import_handler(*options: str) -> tuple[dict[str, float], str]:
    """Import it in a new interpreter; return its times in ms, and what Python said of them."""
    variables = FUNCTIONS["load-client"].settings.variables(make_default_settings())
    python_path = os.environ.get("PYTHONPATH")
    ran = subprocess.run(
        [sys.executable, *options, "-c", IMPORT],
        cwd=PROJECT,
        env={**variables, **({"PYTHONPATH": python_path} if python_path else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, float] = json.loads(ran.stdout)
    return told, ran.stderr


def list_slowest(told: str) -> list[tuple[float, str]]:
    """List the modules that take longest by themselves, in ms: `import time: us | us | name`."""
    rows = [line.removeprefix("import time:").split("|") for line in told.splitlines()]
    known = [(int(row[0]) / 1e3, row[2].strip()) for row in rows if row[0].strip().isdigit()]
    return sorted(known, reverse=True)[:SHOWN]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, prog="load_client_import")
    parser.add_argument("--repetitions", type=int, default=20)
    asked = parser.parse_args()
    import_handler()  # compiles what is new
    times = [import_handler()[0] for _ in range(asked.repetitions)]
    for name in ("cpu_ms", "wall_ms"):
        values = sorted(one[name] for one in times)
        print(
            f"{name}: median {statistics.median(values):.0f},"
            f" {values[0]:.0f} to {values[-1]:.0f} in {len(values)} repetitions"
        )
    print("slowest by themselves, ms:")
    for ms, module in list_slowest(import_handler("-X", "importtime")[1]):
        print(f"{ms:7.1f}  {module}")


if __name__ == "__main__":
    main()

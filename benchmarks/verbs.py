"""How long each verb's help takes, and verbs that only read files, in processor time.

    python -m benchmarks.verbs [--repetitions 5]

Each call is an interpreter of its own. On an idle machine a help may take 0.3 s, and `workload
list`, `validate` and `show` 0.7 s. It measures processor time, which changes less beside other work
than wall time does.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from plimsoll.cli.main import VERBS
from tests.support.synthetic_run import synthetic_run

PROJECT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "from plimsoll.cli.main import main; main()"]
HELP_S, READS_S = 0.3, 0.7


def call(arguments: list[str]) -> float:
    """Call a verb in a new interpreter; return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*COMMAND, *arguments], cwd=PROJECT, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, prog="verbs")
    parser.add_argument("--repetitions", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result, _ = synthetic_run()
        (Path(folder) / "result.json").write_text(result.model_dump_json())
        reads = [["workload", "list"], ["validate", "scenarios/r1.yaml"], ["show", folder]]
        calls = [([verb, "--help"], HELP_S) for verb in VERBS] + [(one, READS_S) for one in reads]
        for arguments, most_s in calls:
            call(arguments)  # compiles what is new
            median_s = statistics.median(call(arguments) for _ in range(asked.repetitions))
            late = "  more than it may take" if median_s > most_s else ""
            print(f"{' '.join(arguments[:2]):28} {median_s:5.2f} s of {most_s} s{late}")


if __name__ == "__main__":
    main()

"""How long until N load clients have started on one machine, how many were late, their memory.

    python benchmarks/clients.py [N]

Each client is what a step's client is: an invocation of its own process, with the libraries that
`load-client` imports, through Step Functions' Distributed Map. "Late" is later than the start
barrier that the twin's settings give. Memory is the proportional share (PSS): pages that the
processes share are counted once in all.
"""

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from plimsoll.local.deploying import ROLE
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import FUNCTIONS, Setting

PROJECT = Path(__file__).parents[1]
HANDLER = """
import time
from pathlib import Path

def handler(event, context):
    started = time.time()
    time.sleep(event["hold_s"])  # all are there at once
    rollup = Path("/proc/self/smaps_rollup").read_text().splitlines()
    pss = next(line for line in rollup if line.startswith("Pss:"))
    return {"started": started, "pss_kib": int(pss.split()[1])}
"""


def client_folder(base: Path) -> Path:
    """Make a function that imports what `load-client` does, and measures itself."""
    folder = base / "functions/client"
    shutil.copytree(PROJECT / "functions/load_client", folder)
    (folder / "imports.py").write_text((folder / "handler.py").read_text())
    (folder / "handler.py").write_text(f"import imports\n{HANDLER}")
    return folder.parent


def machine(clients: int, hold_s: float) -> str:
    """Define a state machine that runs all clients at once."""
    call = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": "client", "Payload": {"hold_s": hold_s}},
        "Output": "{% $states.result.Payload %}",
        "End": True,
    }
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    processor = {"ProcessorConfig": config, "StartAt": "C", "States": {"C": call}}
    items = f"{{% [1..{clients}] %}}"
    step = {"Type": "Map", "Items": items, "ItemProcessor": processor, "End": True}
    return json.dumps({"QueryLanguage": "JSONata", "StartAt": "M", "States": {"M": step}})


def measure(twin: LocalTwin, clients: int, label: str) -> None:
    """Run all clients once and print what was seen."""
    states = twin.client("stepfunctions")
    arn = states.create_state_machine(
        name=f"clients-{label}", definition=machine(clients, hold_s=8.0), roleArn=ROLE
    )["stateMachineArn"]
    begun = time.time()
    execution = states.start_execution(stateMachineArn=arn)["executionArn"]
    while (told := states.describe_execution(executionArn=execution))["status"] == "RUNNING":
        time.sleep(0.05)
    assert told["status"] == "SUCCEEDED", told
    seen = json.loads(told["output"])
    starts = sorted(one["started"] - begun for one in seen)
    lead_ms = float(twin.settings[Setting.START_LEAD_MS])
    lead_ms += clients * float(twin.settings[Setting.START_LEAD_MS_PER_CLIENT])
    late = sum(start > lead_ms / 1000 for start in starts)
    pss_mib = statistics.mean(one["pss_kib"] for one in seen) / 1024
    middle = starts[clients // 2]
    print(f"{label}: {clients} clients; the first started after {starts[0]:.2f} s,", end=" ")
    print(f"the middle one {middle:.2f} s, the last {starts[-1]:.2f} s;", end=" ")
    print(f"late (barrier at {lead_ms / 1000:.1f} s): {late};", end=" ")
    print(f"memory per client {pss_mib:.1f} MiB")


def main() -> None:
    """Measure a cold and a warm start of all clients."""
    clients = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    function = FUNCTIONS["load-client"].model_copy(update={"name": "client", "timeout_s": 120})
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as base:
        begun = time.time()
        with LocalTwin(
            Path(base) / "aws",
            functions={"client": function},
            functions_directory=client_folder(Path(base)),
            state_machines_directory=Path(base),
        ) as twin:
            print(f"twin started in {time.time() - begun:.1f} s")
            measure(twin, clients, "cold")
            measure(twin, clients, "warm")


if __name__ == "__main__":
    main()

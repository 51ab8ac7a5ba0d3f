"""How long a client had work and no processor, as its report says it.

A client on AWS cannot be had here. What limits this one is a busy loop on the only core that it may
use, before which it has to stand back.
"""

import subprocess
import sys

from plimsoll.capacity.steps.audits import CLIENT_WAITING_PERCENT
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.answered import LoadReport

# of niceness 10 it has a tenth of the time that the loop has (sched(7))
CLIENT = """
import os
import subprocess
import sys

from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.engine.asked import EngineOperation, EngineStatement, EngineWorkload
from tests.local.load.driving import drive

statement = EngineStatement(sql=("SELECT 1",))
operation = EngineOperation(name="read", weight=1, statements=(statement,))
workload = EngineWorkload(key_spaces=(), operations=(operation,))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as loop:
    try:
        os.nice(10)
        report = drive(parse_dsn(sys.argv[1]), workload, connections=16, duration_s=2.0)
    finally:
        loop.kill()
print(report.model_dump_json())
"""


def test_a_client_without_a_processor_says_how_long_it_waited(mariadb: MariaDbServer) -> None:
    dsn = mariadb.dsn.rsplit("/", 1)[0] + "/mysql"
    ended = subprocess.run(
        [sys.executable, "-c", CLIENT, dsn], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    client = LoadReport.model_validate_json(ended.stdout).client
    waited_s, worked_s = client.processor_wait_s, client.cpu_user_s + client.cpu_system_s
    assert waited_s is not None
    assert worked_s > 0
    assert 100 * waited_s / (waited_s + worked_s) > CLIENT_WAITING_PERCENT

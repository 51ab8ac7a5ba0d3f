"""What `plimsoll serve` does besides answering: it saves results, and shuts down in order."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.aws.items import unpack_item
from plimsoll.aws.run_files import REPORT, files_of
from plimsoll.aws.run_records import now
from plimsoll.local.runner import make_twin_settings, save_files
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import Setting
from plimsoll.model.run.run_record import RunRecord
from plimsoll.targets.deletion_schedule import DELETE_STACK

STOP_PATIENCE_S = 300.0  # then the twin ends together with whatever still runs in it
REPORT_PATIENCE_S = 30.0  # the page is drawn after the run has ended, and not always
_LOOK_EVERY_S = 1.0
WAYS_OUT = ("teardown", "experiment-end")  # workflows that remove what others have created

Say = Callable[[str], None]


def list_records(twin: LocalTwin) -> list[RunRecord]:
    """List every run of a twin."""
    table = twin.settings[Setting.RUNS_TABLE]
    pages = twin.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    return [RunRecord.model_validate(unpack_item(item)) for page in pages for item in page["Items"]]


class Archive:
    """Saves the files of each run that has ended in a folder of its own, in the background."""

    def __init__(self, twin: LocalTwin, directory: Path, say: Say) -> None:
        """Start saving.

        Args:
            twin: A running twin.
            directory: The parent of the folders, which are named by run id.
            say: The function that receives a line for each run.
        """
        self._twin = twin
        self._settings = make_twin_settings(twin)
        self._directory = directory
        self._say = say
        self._saved: set[str] = set()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_LOOK_EVERY_S):
            try:
                self.look()
            except (BotoCoreError, ClientError, OSError) as error:
                self._say(f"finished runs could not be saved, it is tried again: {error}")

    def look(self, *, last: bool = False) -> None:
        """Save the runs that have ended, each once.

        Args:
            last: Whether to stop waiting for pages that are not drawn yet.
        """
        for record in list_records(self._twin):
            if not record.state.ended or record.past or record.run_id in self._saved:
                continue
            files = files_of(self._settings, record.run_id)
            ended = record.ended_at or record.submitted_at
            waited_s = (now() - ended).total_seconds()
            if files.find(REPORT) is None and not last and waited_s < REPORT_PATIENCE_S:
                continue
            save_files(files, self._directory / record.run_id)
            self._saved.add(record.run_id)
            self._say(f"{record.run_id} {record.state}: {self._directory / record.run_id}")

    def close(self) -> None:
        """Save what is not saved yet, and end."""
        self._closed.set()
        self._thread.join()
        if self._twin.alive:
            self.look(last=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def stop_everything(twin: LocalTwin, say: Say, patience_s: float = STOP_PATIENCE_S) -> bool:
    """Stop every workflow, and wait until every run has ended and every target is gone.

    Nothing may start anything meanwhile: close the front first. Schedules are removed first, except
    those that delete targets.

    Returns:
        False if something was still there after `patience_s` seconds.
    """
    _remove_schedules(twin)
    states, deadline = twin.client("stepfunctions"), time.monotonic() + patience_s
    machines = [
        machine["stateMachineArn"] for machine in states.list_state_machines()["stateMachines"]
    ]
    ends = {twin.state_machine_arn(name) for name in WAYS_OUT}
    stopped: set[str] = set()
    while time.monotonic() < deadline:
        # Listed first: a teardown that begins later would be missing from a list read earlier.
        over = all(record.state.ended for record in list_records(twin))
        running = {
            execution["executionArn"]: machine
            for machine in machines
            for execution in states.list_executions(
                stateMachineArn=machine, statusFilter="RUNNING"
            )["executions"]
        }
        if over and not running and not twin.databases:
            return True
        for (
            execution,
            machine,
            # an execution that starts others meanwhile is handled in the next pass
        ) in running.items():
            if machine not in ends and execution not in stopped:
                say(f"stopping {execution.rpartition(':')[2]} and deleting its target")
                states.stop_execution(
                    executionArn=execution, error="Stopped", cause="the service was ended"
                )
                stopped.add(execution)
        time.sleep(0.2)
    return False


def _remove_schedules(twin: LocalTwin) -> None:
    client = twin.client("scheduler")
    for page in client.get_paginator("list_schedules").paginate():
        for schedule in page["Schedules"]:
            if not schedule["Target"]["Arn"].endswith(f":aws-sdk:{DELETE_STACK}"):
                client.delete_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])

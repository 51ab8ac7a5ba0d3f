"""The process that is AWS: moto's service APIs with their corrections, sandboxes, databases.

Run as `python -m plimsoll.local.aws.server` by `plimsoll.local.aws.process`. The first line of
standard input is the configuration (JSON); the first line of standard output says where it listens.
The end of standard input (the parent closed it, or died) ends it and all that it started. Should it
be killed itself, its databases and sandboxes are killed by their guards and the kernel, and the
folder is removed by the parent, or by the next twin.
"""

import fcntl
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

from plimsoll.local.aws import corrections
from plimsoll.local.aws.corrections import executions
from plimsoll.local.aws.deliveries import Deliveries
from plimsoll.local.aws.events import EventRules
from plimsoll.local.aws.front import Front
from plimsoll.local.aws.functions import Functions
from plimsoll.local.aws.names import REGION
from plimsoll.local.aws.schedules import Scheduler
from plimsoll.local.lambdas.sandboxes import SandboxPool
from plimsoll.local.leftovers import remove_leftovers
from plimsoll.local.resources import stacks
from plimsoll.local.resources.databases import Databases

# No credential of this machine's user is ever read.
FAKE_ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "twin",
    "AWS_SECRET_ACCESS_KEY": "twin",
    "AWS_SESSION_TOKEN": "twin",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
}


class _QuietHandler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept: a new one for each call costs more
    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        """Say nothing: calls are in CloudTrail on AWS, and nowhere here."""


class AwsServer:
    """Everything that stands in for AWS, in one process."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self._directory = Path(configuration["directory"])
        default_user_config["stepfunctions"] = {"execute_state_machine": True}
        corrections.apply()
        self._databases = Databases(
            self._directory / "databases", memory_scale=configuration["memory_scale"]
        )
        stacks.apply(self._databases)
        self._questions = {
            "invocations": self._invocations,
            "warm": self._warm,
            "databases": self._list_databases,
        }
        moto = DomainDispatcherApplication(create_backend_app)
        self._http = make_server(
            "127.0.0.1",
            0,
            Front(moto, self._questions),
            threaded=True,
            request_handler=_QuietHandler,
        )
        self.port = self._http.server_port
        os.environ["MOTO_PORT"] = str(self.port)

        roots = {name: Path(root) for name, root in configuration["functions"].items()}
        self._pool = SandboxPool(
            self._directory / "logs",
            {**FAKE_ACCOUNT, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"},
        )
        self._pool.preload(list(roots.values()))
        self._functions = Functions(self._pool, roots, configuration["retry_delay_s"])
        deliveries = Deliveries(self._functions)
        executions.on_status_change(EventRules(deliveries).on_status_change)
        self._scheduler = Scheduler(deliveries)

    def serve(self) -> None:
        """Answer requests in the background."""
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End all that runs here."""
        self._scheduler.close()
        self._functions.close()
        self._pool.close()
        self._databases.close()

    def _invocations(self, _: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"function": function, "request_id": request_id, "pid": pid}
            for function, request_id, pid in self._pool.running()
        ]

    def _list_databases(self, _: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "identifier": database.identifier,
                "host": database.server.host,
                "port": database.server.port,
                "pid": database.server.pid,
                "directory": str(database.directory),
            }
            for database in self._databases.list()
        ]

    def _warm(self, question: dict[str, Any]) -> None:
        self._pool.warm(self._functions.spec(question["function"]), question["count"])


def main() -> None:
    """Serve until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent alone says when to end
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for name in ("moto", "werkzeug", "botocore"):
        logging.getLogger(name).setLevel(
            logging.CRITICAL
        )  # executions tell their errors themselves
    os.environ.update(FAKE_ACCOUNT)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing printed by a library is taken for an answer
    configuration = json.loads(sys.stdin.buffer.readline())
    directory = Path(configuration["directory"])
    lock = (directory / "lock").open("w")  # held until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(
            json.dumps({"error": f"{directory} is in use by another run"}), file=answers, flush=True
        )
        return
    remove_leftovers(directory / "databases")
    server = AwsServer(configuration)
    try:
        server.serve()
        print(json.dumps({"port": server.port}), file=answers, flush=True)
        sys.stdin.buffer.read()
    finally:
        server.close()
        os._exit(0)  # requests may still hang in threads; nothing waits for them


if __name__ == "__main__":
    main()

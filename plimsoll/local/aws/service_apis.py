"""The stand-in for AWS: moto's service APIs, corrected, with functions, databases and schedules."""

import os
import socket
import threading
from pathlib import Path
from typing import Any

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import make_server

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST, RunFiles
from plimsoll.local.account import RDS_CA_FILE, REGION, Keys
from plimsoll.local.aws import corrections
from plimsoll.local.aws.corrections import executions
from plimsoll.local.aws.corrections.clients import boto_client_for
from plimsoll.local.aws.corrections.effort import create_application
from plimsoll.local.aws.deliveries import Deliveries
from plimsoll.local.aws.eventbridge import EventRules
from plimsoll.local.aws.front import Front
from plimsoll.local.aws.lambda_invoke import Functions
from plimsoll.local.aws.scheduler import Scheduler
from plimsoll.local.aws.signatures import SignedCalls
from plimsoll.local.home import Places
from plimsoll.local.lambdas.sandboxes import SandboxPool
from plimsoll.local.resources import cloudformation, rds_api, snapshots
from plimsoll.local.resources.registry import Databases
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import CheckedRequest, check_request


class _QuietHandler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept: a new one for each call costs more
    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        """Log nothing: on AWS, CloudTrail has the calls."""


def _find_request(bucket: str, instance: str) -> CheckedRequest | None:
    """Return the request of the run for which an instance is created; None if it is no run's."""
    files = RunFiles(bucket, instance.removeprefix("plimsoll-"))
    request = files.find_model(REQUEST, Request)
    return None if request is None else check_request(request)


class Services:
    """Everything that stands in for AWS, in one process."""

    def __init__(
        self, configuration: dict[str, Any], pool: SandboxPool, listener: socket.socket
    ) -> None:
        """Create the parts, and answer requests in the background.

        Args:
            configuration: The configuration that `AwsProcess` sends.
            pool: The sandboxes that run functions.
            listener: The listening socket.
        """
        self._pool = pool
        default_user_config["stepfunctions"] = {"execute_state_machine": True}
        os.environ["MOTO_PORT"] = str(listener.getsockname()[1])
        corrections.apply()
        clients.use_factory(lambda service: boto_client_for(REGION, service))
        bucket = configuration["results_bucket"]
        places = Places(
            Path(configuration["directory"]), lambda instance: _find_request(bucket, instance)
        )
        self._databases = Databases(
            places,
            memory_scale=configuration["memory_scale"],
            metric_period_s=configuration["metric_period_s"],
            metrics_late_s=configuration["metrics_late_s"],
        )
        (Path(configuration["directory"]) / RDS_CA_FILE).write_text(self._databases.authority.pem)
        self._snapshots = snapshots.apply(self._databases)
        cloudformation.apply(self._databases, self._snapshots)
        rds_api.apply()
        roots = {name: Path(root) for name, root in configuration["functions"].items()}
        self._functions = Functions(
            pool, roots, configuration["retry_delay_s"], Path(configuration["directory"])
        )
        deliveries = Deliveries(self._functions)
        executions.on_status_change(EventRules(deliveries).on_status_change)
        self._scheduler = Scheduler(deliveries)
        questions = {
            "invocations": self._list_invocations,
            "warm": self._warm,
            "databases": self._list_databases,
            "protect": self._protect,
        }
        front = Front(
            create_application(),
            questions,
            configuration["step_functions_url"],
        )
        http = make_server(
            "127.0.0.1",
            0,
            SignedCalls(front, Keys(**configuration["keys"]), listener.getsockname()[1]),
            threaded=True,
            request_handler=_QuietHandler,
            fd=listener.fileno(),
        )
        threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End all that runs here."""
        self._scheduler.close()
        self._functions.close()
        self._pool.close()
        self._databases.close()
        self._snapshots.close()

    def _list_invocations(self, _: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"function": function, "request_id": request_id, "pid": pid}
            for function, request_id, pid in self._pool.list_running()
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

    def _protect(self, question: dict[str, Any]) -> None:
        self._databases.protect(question["identifier"], protected=question["protected"])

    def _warm(self, question: dict[str, Any]) -> None:
        self._pool.warm(self._functions.spec(question["function"]), question["count"])

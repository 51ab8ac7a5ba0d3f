"""LocalStack's Step Functions alone, on a port of this machine, in an environment of its own.

The first line of standard output says where it answers, the first line of standard input (JSON)
where its states call AWS and with which keys; the end of standard input ends it. It runs on Python
3.13, which LocalStack needs.
"""

import argparse
import json
import logging
import sys
import threading
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import boto3
from botocore.config import Config
from localstack.aws.api import RequestContext
from localstack.aws.connect import connect_to
from localstack.aws.protocol.service_router import determine_aws_protocol
from localstack.aws.skeleton import create_skeleton
from localstack.aws.spec import load_service
from localstack.services.stepfunctions.backend.execution import Execution
from localstack.services.stepfunctions.packages import jpype_jsonata_package
from localstack.services.stepfunctions.provider import StepFunctionsProvider
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request


class _QuietHandler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        pass


def use_java(java: Path, jars: Path) -> None:
    """Let JSONata run on a Java and jars that are there: LocalStack would download its own."""
    jpype_jsonata_package.get_installer = lambda: SimpleNamespace(
        install=lambda: None,
        get_java_lib_path=lambda: str(java.resolve().parents[1] / "lib/server/libjvm.so"),
        get_installed_dir=lambda: str(jars),
    )


def call_aws_at(url: str, keys: dict[str, str], region: str) -> None:
    """Let the states call AWS at a URL, without asking for a role first."""

    @cache
    def client(service: str):
        return boto3.client(
            service,
            region_name=region,
            endpoint_url=url,
            **keys,
            config=Config(
                retries={"total_max_attempts": 1},
                read_timeout=24 * 3600,
                max_pool_connections=1000,
                parameter_validation=False,  # as LocalStack has it
            ),
        )

    making = threading.Lock()  # botocore's loaders are not thread-safe

    def get_client(service: str):
        with making:
            return client(service)

    type(connect_to).with_assumed_role = lambda *_, **__: SimpleNamespace(get_client=get_client)
    Execution._get_events_client = lambda _: get_client("events")


def application(account: str, region: str):
    """Make the WSGI application that answers Step Functions' API."""
    service = load_service("stepfunctions")
    skeleton = create_skeleton(service, StepFunctionsProvider())

    def answer(environ, start_response):
        request = Request(environ)
        context = RequestContext(request)
        context.service = service
        context.protocol = determine_aws_protocol(request, service)
        context.account_id, context.region, context.partition = account, region, "aws"
        return skeleton.invoke(context)(environ, start_response)

    return answer


def main() -> None:
    """Answer until standard input ends."""
    parser = argparse.ArgumentParser()
    for name in ("--account", "--region"):
        parser.add_argument(name, required=True)
    for name in ("--java", "--jars"):
        parser.add_argument(name, required=True, type=Path)
    given = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    use_java(given.java, given.jars)
    server = make_server(
        "127.0.0.1",
        0,
        application(given.account, given.region),
        threaded=True,
        request_handler=_QuietHandler,
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    aws = json.loads(sys.stdin.readline())
    call_aws_at(aws["url"], aws["keys"], given.region)
    sys.stdin.read()


if __name__ == "__main__":
    main()

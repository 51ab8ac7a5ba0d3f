"""The functions as packaged for Lambda, for the architecture of this machine.

The CDK builds the packages as `cdk deploy` does. Each function runs from the package that the
synthesized template names for it, in an interpreter that knows this folder and the standard library
alone. Every handler is imported; some are invoked, with a real database server and a stand-in for
AWS's services.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from plimsoll.aws import clients
from plimsoll.aws.run_files import RunFiles, client_path, plan_path
from plimsoll.errors import MissingToolError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.deploying import PRINCIPAL, make_default_settings
from plimsoll.model.deployment.deployment import read_deployment
from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT, Setting
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.settings import STORED
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.submit import submit_run
from stacks.imports import find_imports, find_module_files, handler_path
from stacks.packaging import AWS_LAMBDA, THIS_MACHINE, Platform, find_engine_wheel, measure_mib
from tests.support.aws_resources import (
    BUCKET,
    RUNS_TABLE,
    SERVICE_TABLE,
    make_bucket,
    make_state_machine,
    make_tables,
)
from tests.support.every_setting import settings_on_aws

ROOT = Path(__file__).parents[2]
RECORDS = 2_000
# as Lambda finds a handler: its path with dots, the package first on sys.path
INVOKE = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
handler = importlib.import_module(sys.argv[2].replace("/", ".")).handler
print(json.dumps(handler(json.loads(sys.argv[3]), None)))
loaded = {m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)}
print(json.dumps(sorted(f for f in loaded if "site-packages" in f)), file=sys.stderr)
"""
# the same for every function of one package; what they say of those that cannot be imported
IMPORT = """
import importlib, json, os, sys
sys.path.insert(0, sys.argv[1])
failures = {}
for name, function in json.loads(sys.argv[2]).items():
    os.environ.clear()
    os.environ.update(function["variables"])
    module, _, attribute = function["handler"].rpartition(".")
    try:
        getattr(importlib.import_module(module.replace("/", ".")), attribute)
    except Exception as error:
        failures[name] = f"{type(error).__name__}: {error}"
    loaded = {m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)}
    if elsewhere := sorted(f for f in loaded if "site-packages" in f):
        failures.setdefault(name, f"imports from elsewhere: {elsewhere}")
print(json.dumps(failures))
"""
NAMES = {
    Setting.RESULTS_BUCKET: BUCKET,
    Setting.RUNS_TABLE: RUNS_TABLE,
    Setting.SERVICE_TABLE: SERVICE_TABLE,
}
# of extras, what is in a package for them and in no other
OF_EXTRAS = {"service": "aws_lambda_powertools", "checks": "otava"}


@dataclass(frozen=True)
class DeployedFunction:
    """A function as the synthesized template describes it.

    package: The folder of the asset that its code is.
    variables: The function's environment variables, with the values of one machine.
    """

    package: Path
    handler: str
    variables: Mapping[str, str]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DeployedFunction]:
    """The app's functions by name, packaged for this machine."""
    return synthesize(tmp_path_factory.mktemp("app"), THIS_MACHINE)


def synthesize(folder: Path, platform: Platform) -> dict[str, DeployedFunction]:
    """Synthesize the app with its packages, as `cdk deploy` does; gives its functions by name."""
    if shutil.which("node") is None:
        pytest.fail("the CDK needs Node.js (on Debian or Ubuntu: apt-get install nodejs npm)")
    # the CDK starts Node.js, in each worker that collects
    from aws_cdk import App  # noqa: PLC0415 - as above

    from stacks.plimsoll import PlimsollStack  # noqa: PLC0415 - as above

    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(outdir=str(folder), analytics_reporting=False, context=context)
    PlimsollStack(app, "Plimsoll", read_deployment({}), platform=platform)
    template = app.synth().get_stack_by_name("Plimsoll").template
    assets = json.loads((folder / "Plimsoll.assets.json").read_text())["files"].values()
    packages = {
        destination["objectKey"]: folder / asset["source"]["path"]
        for asset in assets
        for destination in asset["destinations"].values()
    }
    values = {setting.name: value for setting, value in make_default_settings().items()}
    stored = [setting.name for setting in STORED]  # there is no table to read them from
    found = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function" and "FunctionName" in resource["Properties"]
    ]
    return {
        function["FunctionName"].removeprefix("plimsoll-"): DeployedFunction(
            package=packages[function["Code"]["S3Key"]],
            handler=function["Handler"],
            variables={
                name: values[name] for name in (*function["Environment"]["Variables"], *stored)
            },
        )
        for function in found
    }


@pytest.fixture(scope="module")
def packages(deployed: dict[str, DeployedFunction]) -> dict[str, Path]:
    """The folder of each function's package."""
    return {name: deployed[name].package for name in FUNCTIONS}


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """A stand-in for S3, DynamoDB, Secrets Manager and Step Functions; gives its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ACCESS_KEY_ID", "none")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "none")
        clients.use_factory(None)
        make_bucket()
        make_tables()
        yield f"http://{host}:{port}"
    server.stop()
    clients.use_factory(None)


def invoke(
    packages: dict[str, Path], name: str, event: dict[str, Any], *, allowed: str = "{}"
) -> Any:
    """Invoke a packaged function as its row of the table says; gives its answer."""
    row = FUNCTIONS[name]
    settings = {**make_default_settings(), **NAMES, Setting.ALLOWED_ENDPOINTS: allowed}
    given = row.settings.variables(settings)
    passed = {key: value for key, value in os.environ.items() if key.startswith("AWS_")}
    done = subprocess.run(
        # -I and -S: neither this project nor its virtual environment is on the path
        [sys.executable, "-I", "-S", "-c", INVOKE, str(packages[name]),
         f"functions/{row.folder}/handler", json.dumps(event)],
        cwd=packages[name].parent,
        env={**passed, **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1]) == []  # nothing came from elsewhere
    return json.loads(done.stdout.splitlines()[-1])


def endpoint_request(mariadb: MariaDbServer, database: str) -> Request:
    secret = boto3.client("secretsmanager").create_secret(
        Name="endpoint",
        SecretString=json.dumps({"username": mariadb.user, "password": mariadb.password}),
    )
    return Request.model_validate(
        {
            "name": "packaged",
            "target": {
                "kind": "endpoint",
                "engine": "mariadb",
                "host": mariadb.host,
                "port": mariadb.port,
                "database": database,
                "secret_arn": secret["ARN"],
                "tls": "off",
            },
            "workload": {"name": "ycsb-c", "records": RECORDS},
            "search": {"strategy": "steps", "clients": [1]},
        }
    )


def plan(step: int, *, lead_ms: int) -> StepPlan:
    return StepPlan(
        index=step,
        purpose="baseline",
        why="the first",
        clients=1,
        connections=2,
        rate_ops_per_second=None,
        warmup_s=0,
        duration_s=1,
        timeout_ms=60_000,
        seed=1,
        start_at_epoch_ms=round(time.time() * 1000) + lead_ms,
        recovered=None,
        server_before=None,
    )


def in_time(packages: dict[str, Path], run_id: str, *, allowed: str) -> LoadReport:
    """Run a client whose barrier is so far ahead as this machine takes to start one.

    Again, too, where the machine stood still for the whole of its window.
    """
    files = RunFiles(BUCKET, run_id)
    for step, lead_ms in enumerate((3_000, 15_000, 60_000, 60_000, 60_000), start=1):
        files.put_model(plan_path(step), plan(step, lead_ms=lead_ms))
        event = {"run_id": run_id, "step": step, "client": 0}
        try:
            invoke(packages, "load-client", event, allowed=allowed)
        except AssertionError as refused:
            if "after the barrier, when half of the window was over" not in str(refused):
                raise
            continue
        report = files.get(client_path(step, 0), ClientResult).report
        if report.late_start_ms == 0 and report.operations["read"].succeeded:
            return report
    raise AssertionError("a client does not start in a minute")


def test_every_handler_is_imported_from_the_package_that_its_template_names(
    deployed: dict[str, DeployedFunction],
) -> None:
    in_second_zone = {f"{name}-2" for name, row in FUNCTIONS.items() if row.in_each_zone}
    assert set(deployed) == {*FUNCTIONS, *(row.name for row in OF_DEPLOYMENT), *in_second_zone}
    failures: list[str] = []
    for package in {function.package for function in deployed.values()}:
        served = {
            name: {"handler": function.handler, "variables": dict(function.variables)}
            for name, function in deployed.items()
            if function.package == package
        }
        done = subprocess.run(
            # -I and -S: neither this project nor its virtual environment is on the path
            [sys.executable, "-I", "-S", "-c", IMPORT, str(package), json.dumps(served)],
            cwd=package.parent,
            env={},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, (sorted(served), done.stderr)
        failures += [f"{name}: {error}" for name, error in json.loads(done.stdout).items()]
    assert not failures, "\n".join(failures)


def test_a_packaged_load_client_sends_its_load_and_writes_what_it_measured(
    packages: dict[str, Path], aws: str, mariadb: MariaDbServer, fresh_database: str
) -> None:
    assert aws
    request = endpoint_request(mariadb, fresh_database.rsplit("/", 1)[1])
    machine = make_state_machine("run")
    assert isinstance(request.target, EndpointTarget)
    allowed = json.dumps({f"{mariadb.host}:{mariadb.port}": request.target.secret_arn})
    settings = settings_on_aws(
        {Setting.RUN_MACHINE_ARN: machine, Setting.ALLOWED_ENDPOINTS: allowed}
    )
    run_id = submit_run(settings, check_request(request))

    invoke(packages, "record-run", {"run_id": run_id}, allowed=allowed)
    parts = invoke(packages, "create-schema", {"run_id": run_id}, allowed=allowed)["parts"]
    for part in parts:
        invoke(packages, "load-dataset", {"run_id": run_id, "part": part}, allowed=allowed)
    counted = {"run_id": run_id, "failed_parts": 0}
    invoke(packages, "verify-dataset", counted, allowed=allowed)
    measured = in_time(packages, run_id, allowed=allowed)

    assert settings.records.get(run_id).rows == RECORDS
    assert set(measured.operations) == {"read"}
    assert measured.operations["read"].succeeded > 0
    assert measured.operations["read"].errors == {}
    assert measured.ended == "duration"


def test_the_load_clients_package_is_small(packages: dict[str, Path]) -> None:
    # botocore 31, cryptography 15, Plimsoll 8, the engine 6, pydantic's core 5, influxdb 4
    assert measure_mib(packages["load-client"]) < 72


def test_the_packaged_api_answers(packages: dict[str, Path], aws: str) -> None:
    assert aws
    for path, told in {"/health": "status", "/workloads": "workloads", "/nowhere": "title"}.items():
        event = {
            "path": path,
            "httpMethod": "GET",
            "headers": {},
            "multiValueHeaders": {},
            "requestContext": {
                "path": path,
                "stage": "v1",
                "requestId": "1",
                "identity": {"userArn": PRINCIPAL},
            },
        }
        assert told in json.loads(invoke(packages, "api", event)["body"])


def test_an_extra_is_in_the_packages_that_need_it_alone(packages: dict[str, Path]) -> None:
    for name, folder in packages.items():
        for extra, package in OF_EXTRAS.items():
            assert (folder / package).is_dir() == (extra in FUNCTIONS[name].extras), (name, extra)


@pytest.mark.whole
@pytest.mark.timeout(1800)  # it may have to build the engine
def test_what_handlers_import_is_in_the_packages_for_lambda(tmp_path: Path) -> None:
    try:
        find_engine_wheel(
            AWS_LAMBDA
        )  # asked here, since an error within the CDK is a page of its trace
    except MissingToolError as missing:
        pytest.fail(str(missing), pytrace=False)
    deployed = synthesize(tmp_path, AWS_LAMBDA)
    faults: set[str] = set()
    for row in (*FUNCTIONS.values(), *OF_DEPLOYMENT):
        package = deployed[row.name].package
        handler = handler_path(row)
        for file in find_module_files(handler):
            if not (package / file.relative_to(ROOT)).is_file():
                faults.add(f"{row.name}: {file.relative_to(ROOT)} is missing")
        for name in find_imports(handler):
            if is_module(name) and not is_packaged(name, package):
                faults.add(f"{row.name}: {name} is missing")
    for package in {function.package for function in deployed.values()}:
        for library in package.rglob("*.so*"):
            if not fits_lambda(library):
                faults.add(f"{library.relative_to(package)} is not for Lambda")
    assert not faults, "\n".join(sorted(faults))


def is_module(name: str) -> bool:
    """Whether an imported name is a module that does not come with Python."""
    if name.split(".", maxsplit=1)[0] in sys.stdlib_module_names:
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a name within a module, such as a class
        return False


def is_packaged(module: str, package: Path) -> bool:
    """Whether a module is there as a folder, a Python file or a compiled one."""
    path = package.joinpath(*module.split("."))
    compiled = any(path.parent.glob(f"{path.name}.*.so"))
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file() or compiled


def fits_lambda(library: Path) -> bool:
    """Whether a compiled file is for Lambda's processor and, if it is a module, its Python."""
    machine = int.from_bytes(library.read_bytes()[18:20], "little")  # e_machine of the ELF header
    version = AWS_LAMBDA.python_version.replace(".", "")
    module = ".cpython-" not in library.name or f".cpython-{version}-" in library.name
    return module and machine == 183  # EM_AARCH64

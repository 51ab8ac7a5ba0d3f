"""ministack with what Plimsoll needs and it lacks, patched at its edge.

Run in ministack's own environment, with its own variables (`GATEWAY_PORT` and others) and:
    RDS_SERVER: JSON list: the command that starts the server of an RDS instance. It prints its
        address and account as one line of JSON, and ends with its standard input.
    RDS_AUTHORITY: PEM file with the authority that signs the certificates of these servers.

Each function below mends one gap. docs/evidence/aws.md lists them all.
"""

import json
import os
import re
import subprocess
from urllib.parse import urlparse

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.services import rds, s3, secretsmanager, stepfunctions
from ministack.services.cloudformation import helpers, provisioners, stacks

HANDLERS = provisioners._RESOURCE_HANDLERS
servers = {}  # the process of each RDS instance by the instance's identifier, and its secret


def accept_types_without_effect():
    """Register types of resources whose absence changes nothing that a run meets."""
    for kind in (
        "AWS::Budgets::Budget",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
    ):
        HANDLERS[kind] = {
            "create": lambda logical_id, _, stack_name: (f"{stack_name}-{logical_id}", {}),
            "update": lambda physical_id, *_: (physical_id, {}),
            "delete": lambda *_: None,
        }


def accept_alarms_on_expressions():
    """Create an alarm on an expression as one on its first metric: no run meets an alarm."""
    record = provisioners._cw_metric_alarm_record

    def record_simply(name, props):
        props = dict(props)
        measured = [each["MetricStat"] for each in props.pop("Metrics", ()) if "MetricStat" in each]
        for statistic in measured[:1]:
            metric = statistic["Metric"]
            props.update(MetricName=metric["MetricName"], Namespace=metric["Namespace"])
            props.update(Period=statistic["Period"], Statistic=statistic["Stat"])
        return record(name, props)

    provisioners._cw_metric_alarm_record = record_simply


def read_maps_in_jsonata():
    """Let a Distributed Map evaluate JSONata: its items, their input, its output and variables.

    Its children are executions of their own, to which the parent's variables are unknown.
    """
    run_in_jsonpath = stepfunctions._run_distributed_map

    def run(state, raw_input, *others):
        _, iterator, execution, ctx = others
        if stepfunctions._state_query_language(state, ctx) != "JSONata":
            return run_in_jsonpath(state, raw_input, *others)
        items = stepfunctions._jsonata_state_field(state, "Items", "array", raw_input, ctx)
        selector = state.get("ItemSelector", "{% $states.context.Map.Item.Value %}")
        inputs = [
            stepfunctions._apply_jsonata_template(
                selector, raw_input, {**ctx, "Map": {"Item": {"Index": index, "Value": item}}}
            )
            for index, item in enumerate(items)
        ]
        plain = {
            name: value
            for name, value in state.items()
            if name not in {"Items", "ItemSelector", "MaxConcurrency", "Output", "Assign"}
        }
        if "MaxConcurrency" in state:
            plain["MaxConcurrency"] = stepfunctions._jsonata_state_field(
                state, "MaxConcurrency", "number", raw_input, ctx
            )
        results, following = run_in_jsonpath(
            plain, inputs, inputs, iterator, execution, {**ctx, "variables": {}}
        )
        output = stepfunctions._apply_jsonata_output(
            state, raw_input, ctx, result=results, default=results
        )
        stepfunctions._apply_state_assign(state, raw_input, ctx, result=results)
        return output, following

    stepfunctions._run_distributed_map = run


def write_objects_from_state_machines():
    """Let a state machine write an object: a `Body` that is no text becomes JSON."""
    build = stepfunctions._rest_xml_build_body

    def build_object(root_name, payload, *others):
        if root_name == "Body":
            return json.dumps(payload).encode()
        return build(root_name, payload, *others)

    stepfunctions._rest_xml_build_body = build_object
    stepfunctions._S3_OP_SPECS["PutObject"] = {
        "method": "PUT",
        "path": "/{Bucket}/{Key+}",
        "body_field": "Body",
        "result_root": None,
    }


def read_templates_by_virtual_host():
    """Let a template's URL name its bucket in the host: `https://BUCKET.s3.REGION.../KEY`."""
    resolve_by_path = helpers._resolve_document

    def resolve(params, body_key, url_key, label):
        url = urlparse(helpers._p(params, url_key) or "")
        bucket, virtual, _ = (url.hostname or "").partition(".s3.")
        if virtual:
            params = {**params, url_key: [f"https://s3.amazonaws.com/{bucket}{url.path}"]}
        return resolve_by_path(params, body_key, url_key, label)

    helpers._resolve_document = resolve


def offer_a_supported_mariadb():
    """Offer MariaDB 11.4 in place of 10.6, whose support has ended."""
    describe = rds._ACTION_MAP["DescribeDBEngineVersions"]

    def describe_newer(params):
        if helpers._p(params, "Engine") != "mariadb":
            return describe(params)
        status, headers, body = describe({"Engine": ["mariadb"]})
        return status, headers, body.replace(b"10.6", b"11.4").replace(b"11.4.14", b"11.4.10")

    rds._ACTION_MAP["DescribeDBEngineVersions"] = describe_newer


def start_real_databases():
    """Give an RDS instance a server, its address, and its secret in Secrets Manager."""
    instance = HANDLERS["AWS::RDS::DBInstance"]
    create_record, delete_record = instance["create"], instance["delete"]

    def create(logical_id, props, stack_name):
        identifier, attributes = create_record(logical_id, props, stack_name)
        server = subprocess.Popen(
            [*json.loads(os.environ["RDS_SERVER"]), props["DBName"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        line = server.stdout.readline()
        if not line:
            raise ValueError("the server of this instance did not start")
        made = json.loads(line)
        account = {name: made[name] for name in ("username", "password")}
        owner = {"Key": "aws:rds:primaryDBInstanceArn", "Value": attributes["DBInstanceArn"]}
        arn, _ = secretsmanager._store_new_secret(
            f"rds!db-{identifier}", secret_string=json.dumps(account), tags=[owner]
        )
        servers[identifier] = server, f"rds!db-{identifier}"
        rds._instances[identifier]["Endpoint"].update(Address=made["host"], Port=made["port"])
        return identifier, {
            **attributes,
            "Endpoint.Address": made["host"],
            "Endpoint.Port": str(made["port"]),
            "MasterUserSecret.SecretArn": arn,
        }

    def delete(physical_id, props):
        delete_record(physical_id, props)
        if physical_id in servers:
            server, secret = servers.pop(physical_id)
            server.stdin.close()
            server.wait()
            secretsmanager._secrets.pop(secret, None)

    instance.update(create=create, delete=delete)
    runs_apart = stacks._runs_on_worker_thread
    stacks._runs_on_worker_thread = lambda kind: kind == "AWS::RDS::DBInstance" or runs_apart(kind)


def trust_their_authority():
    """Name the authority of these servers to each function that reads which one RDS has."""
    function = HANDLERS["AWS::Lambda::Function"]
    create_function, update_function = function["create"], function["update"]

    def trusting(props):
        variables = props.get("Environment", {}).get("Variables", {})
        if "RDS_CA_FILE" not in variables:
            return props
        told = {**variables, "RDS_CA_FILE": os.environ["RDS_AUTHORITY"]}
        return {**props, "Environment": {**props["Environment"], "Variables": told}}

    function.update(
        create=lambda logical_id, props, stack_name: create_function(
            logical_id, trusting(props), stack_name
        ),
        update=lambda physical_id, old, new, stack_name, logical_id=None: update_function(
            physical_id, trusting(old), trusting(new), stack_name, logical_id
        ),
    )


def hide_own_packages_from_functions():
    """Let functions import from their packages alone, as on AWS but for boto3, which is in ours."""
    lambda_runtime._PYTHON_WORKER_SCRIPT = (
        "import sys\nsys.path[:] = [p for p in sys.path if 'site-packages' not in p]\n"
        + lambda_runtime._PYTHON_WORKER_SCRIPT
    )


def empty_buckets_without_the_node_sdk():
    """Empty a bucket before its deletion, in place of the CDK's function.

    That is for Node.js and imports `@aws-sdk/client-s3`, which Lambda has and this machine lacks.
    """

    def delete(_, props):
        if props["BucketName"] in s3._buckets:
            s3._buckets[props["BucketName"]]["objects"].clear()

    HANDLERS["Custom::S3AutoDeleteObjects"] = {
        "create": lambda _logical_id, props, _: (f"emptied-{props['BucketName']}", {}),
        "update": lambda physical_id, *_: (physical_id, {}),
        "delete": delete,
    }


def keep_what_the_guard_depends_on():
    """End a stack's deletion where the guard refuses it.

    CloudFormation deletes no resource on which one depends that is still there, and the guard
    depends on all others.
    """
    delete_resource = stacks._delete_resource
    guarded = set()

    def delete(kind, physical_id, props, stack_name=None, logical_id=None):
        if kind == "Custom::NoTargetAlive":
            guarded.add(stack_name)
        elif stack_name in guarded:
            raise ValueError("the guard depends on it, which is still there")
        delete_resource(kind, physical_id, props, stack_name, logical_id)
        if kind == "Custom::NoTargetAlive":
            guarded.remove(stack_name)

    stacks._delete_resource = delete


def evaluate_conditions_of_stacks():
    """Give policies the condition keys `cloudformation:TemplateUrl` and `RoleArn`."""
    read_tags = iam_actions.request_tag_context

    def read_context(service, iam_action, body, params):
        context = dict(read_tags(service, iam_action, body, params))
        for key, field in (("TemplateUrl", "TemplateURL"), ("RoleArn", "RoleARN")):
            if service == "cloudformation" and (value := helpers._p(params, field)):
                context[f"cloudformation:{key}"] = value
        return context

    iam_actions.request_tag_context = read_context


def read_groups_of_schedules():
    """Put a schedule's group into its ARN, which policies name."""
    extract = iam_actions.extract_resource_arn

    def extract_with_group(service, method, path, headers, *others):
        arn = extract(service, method, path, headers, *others)
        body, params, *_ = others
        if service == "scheduler" and ":schedule/default/" in arn:
            group = helpers._p(params, "groupName") or _read_group(body)
            arn = arn.replace(":schedule/default/", f":schedule/{group or 'default'}/")
        return arn

    iam_actions.extract_resource_arn = extract_with_group


def _read_group(body):
    try:
        return json.loads(body or b"{}").get("GroupName")
    except ValueError:
        return None


def answer_at_the_host_of_an_api():
    """Answer for an API at the host that the stack's output names, not at a path alone."""
    app._EXECUTE_API_RE = re.compile(r"^([a-f0-9]{8})\.execute-api\.")


def send_answers_without_a_body():
    """Send what a function answers with a `body` of null, such as a 204, as API Gateway does."""
    send = app._send_response

    async def send_whole(sender, status, headers, body, **options):
        await send(sender, status, headers, b"" if body is None else body, **options)

    app._send_response = send_whole


def be_called_by_tls():
    """Let policies see calls as encrypted, as AWS's are: on this machine they are plain HTTP."""
    app.pin_request_origin = lambda source_ip, _: iam_evaluator.pin_request_origin(source_ip, True)


if __name__ == "__main__":
    accept_types_without_effect()
    accept_alarms_on_expressions()
    read_maps_in_jsonata()
    write_objects_from_state_machines()
    read_templates_by_virtual_host()
    offer_a_supported_mariadb()
    start_real_databases()
    trust_their_authority()
    hide_own_packages_from_functions()
    empty_buckets_without_the_node_sdk()
    keep_what_the_guard_depends_on()
    evaluate_conditions_of_stacks()
    read_groups_of_schedules()
    answer_at_the_host_of_an_api()
    send_answers_without_a_body()
    be_called_by_tls()
    app.main()

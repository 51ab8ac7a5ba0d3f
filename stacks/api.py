"""The REST API on API Gateway: its callers, its paths, and its access log."""

import json
from typing import Any

from aws_cdk import Acknowledgment, CustomResource, RemovalPolicy, Stack, Validations
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from plimsoll.aws.api_logs import LOG_ROLE
from plimsoll.model.deployment.deployment import DEFAULT_NAME, Api
from stacks.imports import ROOT
from stacks.names import own_name

STAGE = "v1"
DOCUMENT = ROOT / "docs" / "openapi.json"  # generated from the routes; a test keeps it in step
METHODS = {"get", "put", "post", "delete", "patch"}
# API Gateway's own errors, with the fields of the API's problem documents.
REFUSALS: dict[str, tuple[int, str]] = {
    "MISSING_AUTHENTICATION_TOKEN": (403, "not-signed"),
    "INVALID_SIGNATURE": (403, "not-signed"),
    "EXPIRED_TOKEN": (403, "not-signed"),
    "ACCESS_DENIED": (403, "not-allowed"),
    "REQUEST_TOO_LARGE": (413, "too-large"),
    "THROTTLED": (429, "too-many-calls"),
    "QUOTA_EXCEEDED": (429, "too-many-calls"),
    "INTEGRATION_FAILURE": (503, "unavailable"),
    "INTEGRATION_TIMEOUT": (504, "too-slow"),
    "DEFAULT_5XX": (500, "unexpected"),
}
# Logged for each call, but never its query, headers or body.
LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "caller": "$context.identity.userArn",
    "caller_account": "$context.identity.accountId",
    "source_ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "response_bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "refused_for": "$context.error.responseType",
}


class ApiPart(Construct):
    """API Gateway in front of one function; every method requires a signature."""

    def __init__(
        self,
        scope: Construct,
        *,
        api: Api,
        function: lambda_.Function,
        deploying: lambda_.Function,
    ) -> None:
        super().__init__(scope, "Api")
        self.rest = apigateway.RestApi(
            self,
            "Rest",
            rest_api_name=own_name(self, DEFAULT_NAME),
            description="Plimsoll: runs for other teams",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            policy=iam.PolicyDocument(statements=[_allow_callers(self, api)]),
            cloud_watch_role=api.makes_log_role,
            cloud_watch_role_removal_policy=_log_role_removal(api) if api.makes_log_role else None,
            default_method_options=apigateway.MethodOptions(
                authorization_type=apigateway.AuthorizationType.IAM
            ),
            deploy_options=self._stage(api),
        )
        if api.makes_log_role:
            self._refuse_another_log_role(deploying)
        self._methods(function)
        for kind, (status, name) in REFUSALS.items():
            self._refusal(kind, status, name)
        self._explain(makes_log_role=api.makes_log_role)

    @property
    def url(self) -> str:
        """The API's address, with a `/` at the end."""
        return self.rest.url

    def _stage(self, api: Api) -> apigateway.StageOptions:
        log_group = logs.LogGroup(
            self,
            "Calls",
            log_group_name=f"/{own_name(self, DEFAULT_NAME)}/api-calls",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        return apigateway.StageOptions(
            stage_name=STAGE,
            throttling_rate_limit=api.calls_per_second,
            throttling_burst_limit=api.calls_burst,
            access_log_destination=apigateway.LogGroupLogDestination(log_group),
            access_log_format=apigateway.AccessLogFormat.custom(json.dumps(LOGGED)),
            data_trace_enabled=False,
        )

    def _refuse_another_log_role(self, deploying: lambda_.Function) -> None:
        """Fail the deployment if the account has a log role already: others rely on it.

        Args:
            deploying: The function of custom resources.
        """
        role = self.rest.node.find_child("CloudWatchRole")
        account = self.rest.node.find_child("Account")
        assert isinstance(role, iam.Role)  # noqa: S101 - what `cloud_watch_role` makes
        stack = Stack.of(self)
        deploying.add_to_role_policy(
            iam.PolicyStatement(
                actions=["apigateway:GET"],
                resources=[f"arn:{stack.partition}:apigateway:{stack.region}::/account"],
            )
        )
        free = CustomResource(
            self,
            "LogRoleIsFree",
            resource_type=LOG_ROLE,
            service_token=deploying.function_arn,
            properties={"RoleArn": role.role_arn},
        )
        free.node.add_dependency(deploying)
        account.node.add_dependency(free)

    def _methods(self, function: lambda_.Function) -> None:
        """Create one method for each operation of the document, and no other."""
        integration = apigateway.LambdaIntegration(
            function,
            # one permission for all methods: a function's policy has a size limit
            scope_permission_to_method=False,
        )
        paths: dict[str, dict[str, Any]] = json.loads(DOCUMENT.read_text())["paths"]
        for path in sorted(paths):
            resource = self.rest.root.resource_for_path(path)
            for method in sorted(METHODS & set(paths[path])):
                resource.add_method(method.upper(), integration)

    def _refusal(self, kind: str, status: int, name: str) -> None:
        title = name.replace("-", " ").capitalize()
        template = (
            f'{{"type":"urn:plimsoll:problem:{name}","title":"{title}","status":{status},'
            '"detail":$context.error.messageString,"instance":"$context.path",'
            '"request_id":"$context.requestId","errors":[]}'
        )
        apigateway.CfnGatewayResponse(
            self,
            f"Refusal-{kind}",
            rest_api_id=self.rest.rest_api_id,
            response_type=kind,
            status_code=str(status),
            response_templates={"application/json": template},
        )

    def _explain(self, *, makes_log_role: bool) -> None:
        reasons = {
            "AwsSolutions-APIG2": "the function checks every field and names the wrong one, which a"
            " validator of API Gateway does not",
            "AwsSolutions-APIG3": "callers are signed IAM principals of named accounts or of the"
            " organization; a web ACL costs by the month",
            "AwsSolutions-APIG6": "calls are in the access log; the log of executions would be made"
            " outside of this stack, and stay",
            "AwsSolutions-COG4": "callers are IAM principals",
        }
        if makes_log_role:
            policy = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
            managed = f"Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}"
            reasons[f"AwsSolutions-IAM4[{managed}]"] = (
                "AWS's own list of what API Gateway needs to write logs"
            )
        Validations.of(self).acknowledge(
            *[Acknowledgment(id=name, reason=reason) for name, reason in reasons.items()]
        )


def _log_role_removal(api: Api) -> RemovalPolicy:
    if api.keeps_log_role:
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE  # a failed creation leaves nothing
    return RemovalPolicy.DESTROY


def _allow_callers(scope: Construct, api: Api) -> iam.PolicyStatement:
    """Allow calls from this account, listed accounts, or an organization's.

    The function itself decides to which team a caller belongs.
    """
    own = Stack.of(scope).account
    principals: list[iam.IPrincipal] = [
        iam.AccountPrincipal(account) for account in (own, *api.accounts)
    ]
    conditions = None
    if api.organization_id is not None:
        principals = [iam.AnyPrincipal()]
        conditions = {"StringEquals": {"aws:PrincipalOrgID": api.organization_id}}
    return iam.PolicyStatement(
        actions=["execute-api:Invoke"],
        principals=principals,
        resources=["execute-api:/*"],
        conditions=conditions,
    )

"""The REST API: signed on every method, open to whom the configuration names."""

import json
from typing import Any

import pytest

from tests.infrastructure.template import Template, as_list


def policy(template: Template) -> dict[str, Any]:
    (statement,) = template.only("AWS::ApiGateway::RestApi")["Policy"]["Statement"]
    return dict(statement)


def paths(template: Template) -> dict[str, str]:
    """The path of each resource, by its logical id."""
    resources = template.of_type("AWS::ApiGateway::Resource")

    def path(name: str) -> str:
        given = resources[name]["Properties"]
        parent = given["ParentId"].get("Ref")
        return (path(parent) if parent else "") + "/" + str(given["PathPart"])

    return {name: path(name) for name in resources}


def test_every_operation_of_the_document_is_a_method_and_nothing_else_is(
    app_template: Template,
) -> None:
    where = paths(app_template)
    methods = {
        (where[m["Properties"]["ResourceId"]["Ref"]], m["Properties"]["HttpMethod"].lower())
        for m in app_template.of_type("AWS::ApiGateway::Method").values()
    }
    from stacks.api import DOCUMENT

    described = json.loads(DOCUMENT.read_text())["paths"]
    assert methods == {(path, method) for path in described for method in described[path]}


def test_every_method_is_signed(app_template: Template) -> None:
    methods = app_template.of_type("AWS::ApiGateway::Method").values()
    assert {m["Properties"]["AuthorizationType"] for m in methods} == {"AWS_IAM"}


def test_without_configuration_the_own_account_alone_may_call(app_template: Template) -> None:
    statement = policy(app_template)
    (principal,) = as_list(statement["Principal"]["AWS"])
    assert json.dumps(principal).endswith('{"Ref": "AWS::AccountId"}, ":root"]]}')
    assert "Condition" not in statement


def test_an_organization_or_accounts_may_be_let_in(templates: dict[str, Template]) -> None:
    of_organization = policy(templates["Existing"])
    assert of_organization["Principal"] == {"AWS": "*"}
    assert of_organization["Condition"] == {
        "StringEquals": {"aws:PrincipalOrgID": "o-exampleorgid"}
    }
    listed = as_list(policy(templates["LiveAnalytics"])["Principal"]["AWS"])
    assert len(listed) == 2
    assert "210987654321" in json.dumps(listed)


def test_calls_are_bounded_and_noted_without_what_they_say(app_template: Template) -> None:
    stage = app_template.only("AWS::ApiGateway::Stage")
    (settings,) = stage["MethodSettings"]
    assert (settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"]) == (20, 40)
    assert settings["DataTraceEnabled"] is False
    noted = json.loads(stage["AccessLogSetting"]["Format"])
    assert noted["caller"] == "$context.identity.userArn"
    for value in noted.values():
        for secret in ("header", "querystring", "params", "body", "accessKey"):
            assert secret not in value


@pytest.mark.parametrize("kind", ["ACCESS_DENIED", "THROTTLED", "INTEGRATION_TIMEOUT"])
def test_what_the_gateway_refuses_has_a_problems_fields(app_template: Template, kind: str) -> None:
    (told,) = [
        r["Properties"]
        for r in app_template.of_type("AWS::ApiGateway::GatewayResponse").values()
        if r["Properties"]["ResponseType"] == kind
    ]
    template = told["ResponseTemplates"]["application/json"]
    filled = json.loads(template.replace("$context.error.messageString", '"said"'))
    assert set(filled) == {
        "type", "title", "status", "detail", "instance", "request_id", "errors",
    }  # fmt: skip
    assert filled["status"] == int(told["StatusCode"])


def test_the_gateway_alone_may_call_the_function_and_only_from_this_api(
    app_template: Template,
) -> None:
    (permission,) = [
        p["Properties"]
        for p in app_template.of_type("AWS::Lambda::Permission").values()
        if p["Properties"]["Principal"] == "apigateway.amazonaws.com"
    ]
    (api,) = app_template.of_type("AWS::ApiGateway::RestApi")
    assert {"Ref": api} in permission["SourceArn"]["Fn::Join"][1]


def test_the_accounts_log_role_is_left_alone_where_it_is_there(
    templates: dict[str, Template],
) -> None:
    assert templates["Plimsoll"].of_type("AWS::ApiGateway::Account")
    assert not templates["Existing"].of_type("AWS::ApiGateway::Account")
    assert not templates["Existing"].of_type("Custom::ApiLogRole")


def test_a_log_role_is_set_only_after_a_look_and_outlives_the_deployment(
    app_template: Template,
) -> None:
    ((looks, look),) = app_template.of_type("Custom::ApiLogRole").items()
    (account,) = app_template.of_type("AWS::ApiGateway::Account").values()
    assert looks in account["DependsOn"]
    assert look["Properties"]["RoleArn"] == account["Properties"]["CloudWatchRoleArn"]
    role = app_template.body["Resources"][look["Properties"]["RoleArn"]["Fn::GetAtt"][0]]
    assert role["DeletionPolicy"] == account["DeletionPolicy"] == "RetainExceptOnCreate"


def test_the_address_is_an_output(app_template: Template) -> None:
    url = json.dumps(app_template.body["Outputs"]["ApiUrl"]["Value"])
    assert url.startswith('{"Fn::Join": ["", ["https://"')
    assert "execute-api" in url

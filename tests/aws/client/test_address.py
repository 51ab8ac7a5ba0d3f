"""Where the service is found."""

import json

import boto3
import pytest

from plimsoll.client.address import find_address
from plimsoll.errors import NotDeployedError, UsageError

URL = "https://abc123.execute-api.eu-west-1.amazonaws.com/v1"


def _deploy(name: str, output: str) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {output: {"Value": URL}},
    }
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(template))


@pytest.mark.usefixtures("account")
def test_it_is_the_output_of_the_stack() -> None:
    _deploy("Plimsoll", "ApiUrl")
    _deploy("Second", "ApiUrl")
    assert find_address(url=None, stack=None, variable=None).url == URL
    assert find_address(url=None, stack="Second", variable="http://localhost:1").url == URL


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("output", [None, "Bucket"])
def test_a_stack_that_is_not_plimsolls_is_named(output: str | None) -> None:
    if output is not None:
        _deploy("Other", output)
    with pytest.raises(NotDeployedError, match=r"^--stack Other: "):
        find_address(url=None, stack="Other", variable=None)


def test_an_option_goes_before_the_variable() -> None:
    variable = "http://localhost:2"
    assert find_address(url=URL, stack=None, variable=variable).url == URL
    assert find_address(url=None, stack=None, variable=variable).url == variable
    with pytest.raises(UsageError, match=r"^PLIMSOLL_API_URL: must be an address"):
        find_address(url=None, stack=None, variable="nowhere")
    with pytest.raises(UsageError, match="give one of them"):
        find_address(url=URL, stack="Plimsoll", variable=None)

"""What the stand-in saves changes no answer: items of every type, templates of both kinds.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
"""

from typing import Any

import pytest

from plimsoll.local.twin import LocalTwin

HANDLE = "AWS::CloudFormation::WaitConditionHandle"
VALUES: dict[str, Any] = {
    "text": {"S": "S"},
    "number": {"N": "1.5"},
    "bytes": {"B": b"\x00\xff"},
    "texts": {"SS": ["N", "M"]},
    "numbers": {"NS": ["1", "2"]},
    "map": {"M": {"S": {"S": "a key that is a type's name"}, "L": {"L": [{"NULL": True}]}}},
    "list": {"L": [{"M": {}}, {"BOOL": False}, {"S": ""}]},
    "nothing": {"NULL": True},
}
TEMPLATES = {
    "json": f'{{"Resources": {{"Handle": {{"Type": "{HANDLE}"}}}}}}',
    "yaml": f"Resources:\n  Handle:\n    Type: {HANDLE}",
}


def test_an_item_comes_back_as_it_was_put(twin: LocalTwin) -> None:
    table: dict[str, Any] = {
        "TableName": "effort",
        "AttributeDefinitions": [{"AttributeName": "key", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "key", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    client = twin.client("dynamodb")
    client.create_table(**table)
    item = {"key": {"S": "a"}, **VALUES}
    client.put_item(TableName="effort", Item=item)
    assert client.get_item(TableName="effort", Key={"key": {"S": "a"}})["Item"] == item
    assert client.scan(TableName="effort")["Items"] == [item]
    client.delete_table(TableName="effort")


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_template_of_either_kind_makes_its_resources(twin: LocalTwin, kind: str) -> None:
    client = twin.client("cloudformation")
    client.create_stack(StackName=f"effort-{kind}", TemplateBody=TEMPLATES[kind])
    (resource,) = client.describe_stack_resources(StackName=f"effort-{kind}")["StackResources"]
    assert resource["ResourceType"] == HANDLE
    client.delete_stack(StackName=f"effort-{kind}")

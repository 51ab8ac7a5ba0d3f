"""The function table holds what both deployments rely on."""

from pathlib import Path

from plimsoll.model.deployment.functions import FUNCTIONS, Resource

ROOT = Path(__file__).parents[4]


def test_every_permission_on_anything_says_why() -> None:
    for function in FUNCTIONS.values():
        for permission in function.permissions:
            wide = permission.resource is Resource.ANY
            assert bool(permission.why) == wide, (function.name, permission)
            assert not any("*" in action for action in permission.actions)


def test_only_functions_in_the_vpc_may_read_a_targets_secret() -> None:
    for function in FUNCTIONS.values():
        reads = any(p.resource is Resource.TARGET_SECRETS for p in function.permissions)
        # that one is there for the store of metrics, not for the target
        assert reads == (function.in_vpc and function.name != "publish-target"), function.name


def test_names_in_state_machines_are_pascal_case() -> None:
    assert FUNCTIONS["load-client"].arn_placeholder == "LoadClientFunctionArn"
    assert FUNCTIONS["load-client"].folder == "load_client"

"""A deployment's own names in AWS, so that two of them fit into one account and region."""

from constructs import IConstruct

from plimsoll.model.deployment.deployment import DEFAULT_NAME

_CONTEXT = "plimsoll:name"


def set_own_name(stack: IConstruct, name: str) -> None:
    """Say what the deployment is called; before anything is made in it."""
    stack.node.set_context(_CONTEXT, name)


def own_name(scope: IConstruct, name: str) -> str:
    """Give a name as this deployment has it: `plimsoll-run` is `plimsoll-canary-run` in another.

    Args:
        scope: Anything in the deployment.
        name: It begins with the name that deployments have by default.
    """
    own: str = scope.node.get_context(_CONTEXT)
    return own + name.removeprefix(DEFAULT_NAME)

"""A deployment's own resource names, so that two of them fit into one account and region."""

from constructs import IConstruct

from plimsoll.model.deployment.deployment import DEFAULT_NAME

_CONTEXT = "plimsoll:name"


def set_own_name(stack: IConstruct, name: str) -> None:
    """Set the deployment's name, before anything is created in it."""
    stack.node.set_context(_CONTEXT, name)


def own_name(scope: IConstruct, name: str) -> str:
    """Return a resource name in this deployment: `plimsoll-run` becomes `plimsoll-canary-run`.

    Args:
        scope: Any construct in the deployment.
        name: The name in a deployment with the default name.
    """
    own: str = scope.node.get_context(_CONTEXT)
    return own + name.removeprefix(DEFAULT_NAME)

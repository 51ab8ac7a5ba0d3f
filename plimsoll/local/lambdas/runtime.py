"""What runs in a sandbox: AWS's own runtime client, `awslambdaric`, and the handler.

Imported after the fork: `awslambdaric` reads its environment when it loads.
"""

import os

from awslambdaric import bootstrap
from awslambdaric.lambda_runtime_client import LambdaRuntimeClient


class _Client(LambdaRuntimeClient):  # type: ignore[misc]  # awslambdaric carries no types
    """Reports to this sandbox's path of the Runtime API, also if a start fails.

    The address carries a path (one API serves all sandboxes); awslambdaric's C client takes it as
    it is, while its Python client expects only host and port.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.lambda_runtime_address, self._path = address.split("/", 1)

    def call_rapid(self, http_method: str, endpoint: str, *args: object, **kwargs: object) -> None:
        """Call the Runtime API outside an invocation."""
        super().call_rapid(http_method, f"/{self._path}{endpoint}", *args, **kwargs)


def serve_invocations(handler: str) -> None:
    """Take invocations until the Runtime API ends."""
    bootstrap.run(handler, _Client(os.environ["AWS_LAMBDA_RUNTIME_API"]))

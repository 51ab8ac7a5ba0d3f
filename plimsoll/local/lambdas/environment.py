"""The environment of a sandbox.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html, defined runtime variables.
"""

import os
import sys
from collections.abc import Mapping

from plimsoll.local.lambdas.invocation import FunctionSpec

# Inherited by sandboxes: the locations of programs and libraries.
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR", "PYTHONPATH")


def sandbox_environment(
    function: FunctionSpec, sandbox_id: str, shared: Mapping[str, str], api_address: str
) -> dict[str, str]:
    """Return a sandbox's whole environment.

    Args:
        function: The function that it runs.
        sandbox_id: The sandbox's secret part of the Runtime API's path.
        shared: Variables of every function.
        api_address: Host and port of the Runtime API.
    """
    return {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        **shared,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info[0]}.{sys.version_info[1]}",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mib),
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": sandbox_id[:8],
        "AWS_LAMBDA_RUNTIME_API": f"{api_address}/{sandbox_id}",
        "LAMBDA_TASK_ROOT": str(function.task_root),
        "TZ": ":UTC",
        "_HANDLER": function.handler,
        **dict(function.environment),
    }

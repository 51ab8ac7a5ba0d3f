"""The table of functions: what is deployed on AWS and what one machine runs, from one source.

`stacks/` and `plimsoll/local/` both read `FUNCTIONS`, so that the two cannot drift apart. A
function's code is `functions/<folder>/handler.py` with `handler(event, context)`.
"""

from plimsoll.model.deployment.function import Extra, Function, Permission, Resource
from plimsoll.model.deployment.function_settings import GuardSettings
from plimsoll.model.deployment.functions_of_runs import OF_RUNS
from plimsoll.model.deployment.functions_of_service import OF_SERVICE
from plimsoll.model.settings import Setting

__all__ = ["FUNCTIONS", "Extra", "Function", "Permission", "Resource", "Setting"]

FUNCTIONS: dict[str, Function] = {function.name: function for function in (*OF_RUNS, *OF_SERVICE)}

GUARD = Function(  # apart from the others: it serves the deployment's own end, and no run
    name="guard-deployment",
    summary="Refuses the deployment's deletion while a target is alive.",
    timeout_s=60,
    memory_mib=256,
    settings=GuardSettings,
)

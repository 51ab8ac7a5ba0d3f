"""The table of functions: one source for the functions on AWS and on one machine.

`stacks/` and `plimsoll/local/` both read `FUNCTIONS`, so the two always match. The code of a
function is `functions/<folder>/handler.py` with `handler(event, context)`.
"""

from plimsoll.model.deployment.function import Extra, Function, Permission, Resource
from plimsoll.model.deployment.function_settings import ConfigureSettings, GuardSettings
from plimsoll.model.deployment.functions_of_runs import OF_RUNS
from plimsoll.model.deployment.functions_of_service import OF_SERVICE
from plimsoll.model.settings import Setting

__all__ = ["FUNCTIONS", "Extra", "Function", "Permission", "Resource", "Setting"]

FUNCTIONS: dict[str, Function] = {function.name: function for function in (*OF_RUNS, *OF_SERVICE)}

# Not in the table: CloudFormation calls these two, and no run needs them
GUARD = Function(
    name="guard-deployment",
    summary="Refuses the deployment's deletion while a target is alive.",
    timeout_s=60,
    memory_mib=256,
    settings=GuardSettings,
)
CONFIGURE = Function(
    name="configure-deployment",
    summary="Writes the deployment's configuration into its table.",
    timeout_s=60,
    memory_mib=256,
    settings=ConfigureSettings,
)
OF_DEPLOYMENT = (GUARD, CONFIGURE)

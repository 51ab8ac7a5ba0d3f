"""The table of functions: what is deployed on AWS and what one machine runs, from one source.

`stacks/` and `plimsoll/local/` both read `FUNCTIONS`, so that the two cannot drift apart. A
function's code is `functions/<folder>/handler.py` with `handler(event, context)`.
"""

from plimsoll.model.function import Extra, Function, Permission, Resource, Setting
from plimsoll.model.functions_of_runs import OF_RUNS
from plimsoll.model.functions_of_service import OF_SERVICE

__all__ = ["FUNCTIONS", "Extra", "Function", "Permission", "Resource", "Setting"]

FUNCTIONS: dict[str, Function] = {function.name: function for function in (*OF_RUNS, *OF_SERVICE)}

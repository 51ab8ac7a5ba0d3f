"""What moto 5.2.5 does otherwise than AWS, and Plimsoll needs: one module per correction.

Each is applied once, in the process that serves the twin and nowhere else, and has a conformance
test in `tests/local/aws/` that shows AWS's documented behavior.
"""

from plimsoll.local.aws.corrections import (
    clients,
    definitions,
    distributed_map,
    engine_versions,
    executions,
    function_errors,
    integrations,
    jsonata,
    metric_data,
    offered_zones,
    states,
    string_literals,
)


def apply() -> None:
    """Apply every correction: of the Step Functions interpreter, but for the last three."""
    for correction in (
        clients,
        definitions,
        jsonata,
        states,
        integrations,
        function_errors,
        distributed_map,
        executions,
        string_literals,
        engine_versions,
        offered_zones,
        metric_data,
    ):
        correction.apply()

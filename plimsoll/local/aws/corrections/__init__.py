"""Corrections of moto 5.2.5 where Plimsoll needs AWS's behavior; one module for each.

Each is applied once, only in the process that serves the twin, and has a conformance test in
`tests/local/aws/` that shows AWS's documented behavior.
"""

from plimsoll.local.aws.corrections import (
    clients,
    definitions,
    distributed_map,
    effort,
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
    """Apply every correction. All but the last four concern the Step Functions interpreter."""
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
        effort,
    ):
        correction.apply()

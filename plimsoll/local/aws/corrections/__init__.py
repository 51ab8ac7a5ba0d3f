"""Corrections of moto 5.2.5 where Plimsoll needs AWS's behavior; one module for each.

Each is applied once, only in the process that serves the twin, and has a conformance test in
`tests/local/aws/` that shows AWS's documented behavior.
"""

from plimsoll.local.aws.corrections import (
    clients,
    definitions,
    distributed_map,
    effort,
    executions,
    function_errors,
    integrations,
    jsonata,
    metric_data,
    rds_offers,
    states,
    string_literals,
)


def apply() -> None:
    """Apply every correction. All but the last three concern the Step Functions interpreter."""
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
        rds_offers,
        metric_data,
        effort,
    ):
        correction.apply()

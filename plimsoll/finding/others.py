"""Others who use the database during the search: whoever asks for its line should know of them."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.fleet import ClientResult
from plimsoll.model.results import StepResult

SHARE_MOST = 0.01  # of the server's statements, as the audit `server_count` allows
OWN_MOST = 50  # statements of ours about a step: its counters, looks and rows
OWN_OF_A_CONNECTION = 4  # statements with which it begins


def without_others(step: StepResult, results: Sequence[ClientResult]) -> StepResult:
    """Say how much others asked of the server in a step; its count is then no audit of ours.

    MySQL counts every statement (`Questions`:
    dev.mysql.com/doc/refman/8.4/en/server-status-variables.html#statvar_Questions), so what our
    clients did not send came from others, in text or prepared. Where a server counts prepared
    statements alone, these show the others.
    """
    server = step.server
    if server is None or server.statements_by_clients is None or server.interval_s <= 0:
        return step
    own = server.statements_by_clients
    own += sum(result.report.transaction_commands_sent for result in results)
    served = server.counters.get("Questions")
    if served is None:
        own, served = server.statements_by_clients, server.statements_by_server
    opened = sum(result.report.connection_report.opened for result in results)
    ours = OWN_MOST + OWN_OF_A_CONNECTION * opened
    if served is None or served - own <= max(ours, SHARE_MOST * served):
        return step
    a_second = words.rate((served - own) / server.interval_s)
    share = words.percent((served - own) / served)
    problem = f"others sent {a_second} statements/s to this server meanwhile ({share} of all)"
    return step.model_copy(
        update={
            "problems": (*step.problems, problem),
            "step": step.step.model_copy(update={"statements_served": None}),
        }
    )

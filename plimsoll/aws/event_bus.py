"""Events on the bus. If one cannot be sent, this is only logged.

The run's record and its files are authoritative; events only save others from polling them.
"""

from plimsoll.aws import clients
from plimsoll.aws.function_log import log_line
from plimsoll.model.deployment.events import SOURCE, Event


def put_event(bus: str, event: Event) -> None:
    """Put an event on the bus.

    Args:
        bus: The name of the bus.
        event: The event.
    """
    try:
        answer = clients.events().put_events(
            Entries=[
                {
                    "EventBusName": bus,
                    "Source": SOURCE,
                    "DetailType": event.detail_type,
                    "Detail": event.model_dump_json(),
                }
            ]
        )
        problem = answer["Entries"][0].get("ErrorMessage") if answer["FailedEntryCount"] else None
    except Exception as error:  # noqa: BLE001 - see above
        problem = type(error).__name__
    if problem:
        about = getattr(event, "run_id", None)
        said = f"the event {event.detail_type} was not sent"
        log_line("ERROR", said, correlation_id=about, problem=problem)

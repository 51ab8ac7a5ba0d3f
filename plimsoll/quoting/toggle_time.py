"""What a toggle adds to a run: its steps, each after a restart and warmed by itself. Pure.

An existing database is not restarted: it is reached another way.
"""

from plimsoll import words
from plimsoll.model.request import Request
from plimsoll.model.timings import INSTANCE_RESTART
from plimsoll.model.toggle import SPARE_TRIES


def toggle_steps(request: Request) -> int:
    """How many steps its pairs take."""
    return request.toggle.steps if request.toggle else 0


def _switched_steps(request: Request) -> int:
    """How many steps need the target in one of its states: those of a background's pairs, too."""
    return toggle_steps(request) + request.steps_beside if request.toggle else 0


def expected_s(request: Request) -> float:
    """Seconds of restarts and warming that are expected, beside the steps themselves."""
    restart_s = INSTANCE_RESTART.expected_s if request.target.provisioned else 0.0
    return _switched_steps(request) * (request.prepare.warm_s + restart_s)


def most_s(request: Request) -> float:
    """The same at worst."""
    if request.toggle is None:
        return 0.0
    restart_s = INSTANCE_RESTART.most_s if request.target.provisioned else 0.0
    return (_switched_steps(request) + SPARE_TRIES) * (request.prepare.warm_s + restart_s)


def assumption(request: Request) -> str:
    """Say what a toggle adds; empty without one."""
    if request.toggle is None:
        return ""
    steps = words.plural(toggle_steps(request), "step")
    if not request.target.provisioned:
        return f", and {steps} of a toggle, each after prepare.warm_s"
    return (
        f", and {steps} of a toggle, each after prepare.warm_s and, as if its parameters needed it,"
        f" a restart of {INSTANCE_RESTART.in_minutes}"
    )

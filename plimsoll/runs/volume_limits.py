"""What the volume of a run's target promises. Pure."""

from plimsoll.model.aurora_target import AuroraTarget
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.request import Request
from plimsoll.model.volumes import VolumeLimits, limits


def volume_limits(request: Request) -> VolumeLimits | None:
    """Give what the target's volume promises; None for Aurora and an existing endpoint."""
    target = request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return None
    return limits(target.volume, service=target.service)

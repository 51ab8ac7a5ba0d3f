"""The volume that a template asks for, and the switch of its read cache."""

from collections.abc import Mapping
from typing import Any

from plimsoll.model.aws.volumes import Volume
from plimsoll.model.clouds.volume_rules import BUFFER_POOL_EXTENSION
from plimsoll.volumes import EmulatedVolume


def read_volume(kind: Any, size_gib: Any, iops: Any, throughput_mib_s: Any) -> Volume:
    """Return the volume of a template's properties.

    Args:
        kind: The storage type; or a volume that AWS does not offer, as JSON.
        size_gib: The size.
        iops: The provisioned IOPS; None if there are none.
        throughput_mib_s: The provisioned throughput; None if there is none.
    """
    if str(kind).startswith("{"):
        return Volume.model_validate_json(str(kind))
    return Volume(
        type=kind,
        size_gib=int(size_gib),
        iops=_optional_int(iops),
        throughput_mib_s=_optional_int(throughput_mib_s),
    )


def _optional_int(value: object) -> int | None:
    return None if value is None else int(str(value))


def switch_read_cache(volume: EmulatedVolume, parameters: Mapping[str, str]) -> None:
    """Use the volume's read cache as the parameters say; without the parameter it is not touched.

    Raises:
        UsageError: The volume has no read cache.
    """
    if BUFFER_POOL_EXTENSION in parameters:
        volume.use_read_cache(on=parameters[BUFFER_POOL_EXTENSION].upper() == "ON")


def drop_volume_parameters(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that the server itself has."""
    return {name: value for name, value in parameters.items() if name != BUFFER_POOL_EXTENSION}

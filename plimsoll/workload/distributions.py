"""Distributions by the names of YCSB and sysbench, with their settings in parentheses."""

import re
from typing import Any, get_args

from pydantic import ValidationError

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.values import Distribution
from plimsoll.model.validation import make_complaints
from plimsoll.workload.declared import build_workload_error

KINDS: dict[str, type[Any]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(get_args(Distribution)[0])
}


def read_distribution(text: object) -> Distribution:
    """Parse `zipfian`, or `special(hot_set=15, hot_operations=75)`.

    Raises:
        WorkloadError: The distribution or a setting is unknown, or a value is out of range.
    """
    if not isinstance(text, str):
        raise build_workload_error("must be text, the name of a distribution")
    match = re.fullmatch(r"([a-z_]+)(?:\(([^()]*)\))?", text.strip())
    name = match[1] if match else text
    if match is None or name not in KINDS:
        raise WorkloadError(complain_of_unknown("distribution", name, KINDS, value=text))
    kind = KINDS[name]
    allowed = [field for field in kind.model_fields if field != "kind"]
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in (match[2] or "").split(","))):
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or setting not in allowed:
            raise WorkloadError(
                complain_of_unknown(f"setting of {name}", setting, allowed, value=text)
            )
        if setting in settings:
            raise build_workload_error(
                f"{name}: the setting {setting!r} is given twice", value=text
            )
        settings[setting] = value
    try:
        distribution: Distribution = kind.model_validate_strings(settings)
    except ValidationError as error:
        raise build_workload_error(
            f"{name}: {make_complaints(kind, error.errors())[0]}", value=text
        ) from None
    return distribution

"""Distributions by name, as YCSB and sysbench know them, with their settings in parentheses."""

import re
from typing import Any

from pydantic import ValidationError

from plimsoll.model.values import (
    Distribution,
    Exponential,
    Gaussian,
    Hotspot,
    Latest,
    Pareto,
    Sequential,
    Special,
    SysbenchZipfian,
    Uniform,
    Zipfian,
)
from plimsoll.workload.items import Item

KINDS: dict[str, type[Any]] = {
    kind.model_fields["kind"].default: kind
    for kind in (
        Uniform,
        Sequential,
        Zipfian,
        Latest,
        Hotspot,
        Exponential,
        Gaussian,
        Special,
        Pareto,
        SysbenchZipfian,
    )
}

# Both ends excluded where the formula has no value there.
_OPEN_RANGES: dict[tuple[str, str], tuple[float, float]] = {
    ("zipfian", "constant"): (0, 1),
    ("latest", "constant"): (0, 1),
    ("exponential", "percentile"): (0, 100),
    ("pareto", "h"): (0, 1),
}
_RANGES: dict[tuple[str, str], tuple[float, float]] = {
    ("hotspot", "hot_set"): (0, 1),
    ("hotspot", "hot_operations"): (0, 1),
    ("exponential", "fraction"): (1e-9, 1000),
    ("gaussian", "iterations"): (1, 100),
    ("special", "iterations"): (1, 100),
    ("special", "hot_set"): (0, 100),
    ("special", "hot_operations"): (0, 100),
    ("sysbench_zipfian", "exponent"): (0, 100),
}


def read_distribution(item: Item) -> Distribution:
    """Read `zipfian`, or `special(hot_set=15, hot_operations=75)`.

    Raises:
        WorkloadError: No such distribution or setting, or a value out of its range.
    """
    text = item.text()
    match = re.fullmatch(r"([a-z_]+)(?:\(([^()]*)\))?", text.strip())
    name = match[1] if match else text
    if match is None or name not in KINDS:
        raise item.unknown("distribution", name, KINDS, value=text)
    kind = KINDS[name]
    settings: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in (match[2] or "").split(","))):
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        allowed = [field for field in kind.model_fields if field != "kind"]
        if not equals or setting not in allowed:
            raise item.unknown(f"setting of {name}", setting, allowed, value=text)
        if setting in settings:
            raise item.error(f"{name}: the setting {setting!r} is there twice")
        settings[setting] = value
    try:
        distribution: Distribution = kind.model_validate_strings(settings)
    except ValidationError as error:
        first = error.errors()[0]
        raise item.error(f"{name}: {first['loc'][0]}: {first['msg'].lower()}") from None
    for setting in settings:
        _check_range(item, name, setting, getattr(distribution, setting))
    return distribution


def _check_range(item: Item, name: str, setting: str, value: float) -> None:
    if (name, setting) in _OPEN_RANGES:
        low, high = _OPEN_RANGES[name, setting]
        if not low < value < high:
            raise item.error(f"{name}: {setting} must be between {low:g} and {high:g}, not {value}")
    elif (name, setting) in _RANGES:
        low, high = _RANGES[name, setting]
        if not low <= value <= high:
            raise item.error(f"{name}: {setting} must be from {low:g} to {high:g}, not {value}")

"""Conversion between the models and the native part's structures."""

import errno

from plimsoll.model.aws.volume_rules import Fail, FaultPlan, Slow, Stall
from plimsoll.model.aws.volumes_seen import Escape, VolumeSample
from plimsoll.volumes.native import (
    FAIL,
    HEAL,
    KINDS,
    NEVER_NS,
    SLOW,
    STALL,
    Fault,
    Sample,
    histogram_upper_us,
)


def convert_fault(fault: FaultPlan, now_ns: int) -> Fault:
    """Convert a fault plan, which counts from now, to the native structure."""
    match fault:
        case Stall():
            start = now_ns + round(fault.start_after_s * 1e9)
            return Fault(kind=STALL, from_ns=start, to_ns=start + round(fault.duration_s * 1e9))
        case Slow():
            start = now_ns + round(fault.start_after_s * 1e9)
            lasts = fault.duration_s
            end = NEVER_NS if lasts is None else start + round(lasts * 1e9)
            return Fault(kind=SLOW, from_ns=start, to_ns=end, factor=fault.factor)
        case Fail():
            return Fault(
                kind=FAIL,
                error=errno.EIO if fault.error == "EIO" else errno.ENOSPC,
                after=fault.after_operations,
                count=-1 if fault.operations is None else fault.operations,
            )
        case _:
            return Fault(kind=HEAL)


def convert_sample(sample: Sample, *, epoch_ms: int) -> VolumeSample:
    """Convert the native counters to the model."""
    uppers = histogram_upper_us()
    fields: dict[str, object] = {}
    for kind, seen in zip(KINDS, sample.kinds, strict=True):
        fields[f"{kind}_operations"] = seen.operations
        fields[f"{kind}_time_us"] = seen.time_ns // 1000
        if kind != "flush":
            fields[f"{kind}_ios"] = seen.ios
            fields[f"{kind}_bytes"] = seen.bytes
        fields[f"{kind}_histogram"] = {
            upper: count for upper, count in zip(uppers, seen.histogram, strict=True) if count
        }
    has_credits = sample.credits_max > 0
    fields |= {
        "epoch_ms": epoch_ms,
        "failed_operations": sample.failed,
        "late_operations": sample.late,
        "late_time_us": sample.late_ns // 1000,
        "backlog_us": sample.backlog_ns / 1000,
        "credits": sample.credits if has_credits else None,
        "credits_max": sample.credits_max if has_credits else None,
        "attached_processes": sample.attached,
        "unwatched": sample.unwatched > 0,
        "escapes": tuple(
            Escape(
                program=seen.name.decode(errors="replace"),
                operations=seen.operations,
                ios=seen.ios,
                bytes=seen.bytes,
            )
            for seen in sample.escapers
            if seen.operations
        ),
        "uncounted_maps": sample.maps,
        "refused_calls": sample.refused,
    }
    return VolumeSample.model_validate(fields)

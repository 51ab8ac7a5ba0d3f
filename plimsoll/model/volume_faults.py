"""What a volume is told to do wrong, on purpose."""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model

_START = Field(ge=0, default=0, description="When it starts, in seconds from the injection.")


class Stall(Model):
    """No I/O completes for a while; then all that waited go on."""

    kind: Literal["stall"] = Field(default="stall", description="No I/O completes.")
    start_after_s: float = _START
    duration_s: Annotated[float, Field(gt=0, le=3600)] = Field(
        description="How long no I/O completes, in seconds."
    )


class Slow(Model):
    """Each I/O costs and lasts `factor` times as much."""

    kind: Literal["slow"] = Field(default="slow", description="Every I/O takes longer.")
    factor: Annotated[float, Field(ge=1, le=10_000)] = Field(
        description="How many times as much an I/O costs and lasts."
    )
    start_after_s: float = _START
    duration_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="For how long, in seconds; none: until the volume is healed."
    )


class Fail(Model):
    """Operations fail: EIO any of them, ENOSPC those that write."""

    kind: Literal["fail"] = Field(default="fail", description="Operations fail.")
    error: Literal["EIO", "ENOSPC"] = Field(
        description="EIO: any operation, flushes too; ENOSPC: those that write."
    )
    after_operations: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Operations that still succeed."
    )
    operations: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Operations that then fail; none: all, until healed."
    )


class Drain(Model):
    """The burst credits are spent, as after hours of load; what is earned from then on counts."""

    kind: Literal["drain"] = Field(default="drain", description="The burst credits are spent.")
    left_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0, description="The share of a full bucket that is left."
    )


class Heal(Model):
    """Nothing is wrong any more."""

    kind: Literal["heal"] = Field(default="heal", description="Nothing is wrong any more.")


FaultPlan = Annotated[Stall | Slow | Fail | Drain | Heal, Field(discriminator="kind")]

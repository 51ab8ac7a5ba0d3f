"""What CPU credits the burstable instances earn and hold.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-credits-baseline-concepts.html
(2026-11-22). One credit is one vCPU at 100 % for a minute; an instance holds at most what it earns
in 24 hours. RDS runs db.t3 and db.t4g in unlimited mode, and EC2 launches these families so unless
an account says otherwise: without credits they go on at the same speed, at a charge.
"""

from plimsoll.model.base import Model

_FAMILIES = ("t3", "t3a", "t4g")
# size: vCPUs, baseline in percent of each
_SIZES = {
    "nano": (2, 5),
    "micro": (2, 10),
    "small": (2, 20),
    "medium": (2, 20),
    "large": (2, 30),
    "xlarge": (4, 40),
    "2xlarge": (8, 40),
}


class CpuCredits(Model):
    """The CPU credits of an instance class."""

    vcpus: int
    earned_per_s: float  # credits
    full: float


def cpu_credits(instance_class: str) -> CpuCredits | None:
    """Give those of a class, written `t3.large` or `db.t3.large`; None where it has none."""
    family, _, size = instance_class.removeprefix("db.").partition(".")
    if family not in _FAMILIES or size not in _SIZES:
        return None
    vcpus, baseline_percent = _SIZES[size]
    earned_per_s = vcpus * baseline_percent / 100 / 60
    return CpuCredits(vcpus=vcpus, earned_per_s=earned_per_s, full=earned_per_s * 24 * 3600)

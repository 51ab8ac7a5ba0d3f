"""What a run measured, in words: what RDS made of what was asked for, or what stood in for it."""

from plimsoll.model.descriptions import describe_target
from plimsoll.model.results import RunResult


def target_words(result: RunResult) -> str:
    """Name a run's target: `MariaDB 11.4.5 on this machine, for MariaDB 11.4 on ...`."""
    versions, target = result.versions, result.request.target
    stand_in = versions.server if result.local and target.provisioned else None
    return describe_target(target, version=versions.database, stand_in=stand_in)

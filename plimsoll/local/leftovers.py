"""What a killed twin leaves: removed by its parent, or by the next twin of the folder."""

import shutil
from pathlib import Path

from plimsoll.local.volumes.volume import state_path


def remove_leftovers(databases: Path) -> None:
    """Remove the folders of database instances, and the state of their volumes.

    The servers themselves are gone: their guards saw to it.
    """
    for directory in databases.glob("*/"):
        state = state_path(directory)
        for suffix in ("", ".json", ".lock"):
            state.with_suffix(suffix).unlink(missing_ok=True)
    shutil.rmtree(databases, ignore_errors=True)

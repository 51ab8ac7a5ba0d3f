"""How results are printed."""

import shutil
import sys

from rich.console import Console


def console() -> Console:
    """Standard output for tables: as wide as the terminal, and never cut where there is none."""
    if sys.stdout.isatty():
        return Console()
    return Console(width=max(200, shutil.get_terminal_size().columns))

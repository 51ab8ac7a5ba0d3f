"""The load engine (engine/): specs and reports are JSON, as plimsoll.model.engine has them."""

from collections.abc import Callable, Sequence

class EngineError(Exception):
    """The load could not start; one line, and a code."""

    code: str

def run(spec_json: str, on_second: Callable[[str], None] | None = None) -> str:
    """Apply a load; returns a LoadReport."""

def load_rows(spec_json: str, on_progress: Callable[[int], None] | None = None) -> str:
    """Load rows; returns {"rows_sent": n, "rows_inserted": n, "errors": {code: n}}."""

def merge_histograms(histograms: Sequence[str]) -> str:
    """Add up HdrHistograms (V2, compressed, base64)."""

def histogram_summary(histogram: str) -> str:
    """Summarize a histogram; returns a LatencySummary."""

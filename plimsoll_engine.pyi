"""The load engine (Rust, in `engine/`); its JSON's models: plimsoll/model/engine/asked.py."""

from collections.abc import Callable

__version__: str

class EngineError(Exception):
    """A load that cannot start, in one line."""

    code: str  # the server's error number, or one of the engine's words ("connect", "spec", ...)

class CancelToken:
    """Ends a load early, from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...

class Fold:
    """What the clients of a step measured, added up; it does not grow with their number."""

    def __init__(self) -> None: ...
    def add(self, client_json: bytes) -> str:
        """Adds a client's file (`ClientResult`); one that cannot be read adds nothing.

        Returns:
            The same JSON without its seconds (`[]`) and its histograms (`""`).

        Raises:
            EngineError: It cannot be read; the code is "client" or "histogram".
        """

    def operations(self) -> str:
        """JSON by operation: `latency_us`, a `LatencySummary`, and the merged `histogram`."""

    def nodes(self) -> str:
        """JSON of the same by the address of each node of a cluster."""

    def seconds(self, start_epoch_s: int, step: int) -> str:
        """JSON list of `SecondTotals`, by second and operation, of a load that began then."""

    def p99_medians(self, first: int, past: int) -> list[tuple[str, float]]:
        """The median of the p99 (microseconds) of each client's seconds, by operation.

        Args:
            first: The first second that counts, from the start of the load.
            past: The one after the last.
        """

def run(
    spec_json: str,
    on_second: Callable[[str], None] | None = None,
    cancel: CancelToken | None = None,
) -> str:
    """Runs a load (`LoadSpec`) to its end; returns its `LoadReport`.

    Args:
        spec_json: A `LoadSpec`.
        on_second: Called with the JSON list of each second's `SecondReport`s, one for each
            operation, outside the sending thread's way. What it raises ends the load.
        cancel: Ends the load early; the report then says `cancelled`.

    Raises:
        EngineError: The load cannot start.
        KeyboardInterrupt: Within 100 ms of Ctrl-C.
    """

def load_rows(
    spec_json: str,
    on_progress: Callable[[int], None] | None = None,
    cancel: CancelToken | None = None,
) -> str:
    """Loads rows (`DatasetSpec`); a repeated call completes them, and never doubles any.

    Args:
        spec_json: A `DatasetSpec`.
        on_progress: Called about 20 times a second with the number of rows done.
        cancel: Ends it early, with an `EngineError` of the code "cancelled".

    Returns:
        JSON: `rows_sent`, `rows_inserted` (those that were not there yet), `errors` by code, of
        statements that were then repeated.

    Raises:
        EngineError: It cannot start, or a statement failed five times.
        KeyboardInterrupt: Within 100 ms of Ctrl-C, once the running statements have answered.
    """

def merge_histograms(histograms: list[str]) -> str:
    """Adds histograms (HdrHistogram V2, base64) up without loss."""

def histogram_summary(histogram: str) -> str:
    """The `LatencySummary` of a histogram, as JSON."""

def histogram_counts(histogram: str, bounds_us: list[int]) -> list[int]:
    """How many of a histogram's values are at most as large as each bound, in microseconds."""

def sample(value_json: str, key_spaces_json: str, seed: int, n: int) -> list[int | float | str]:
    """Draws a `Value` n times, as a load binds it; each new row counts as inserted at once."""

def compute(
    formula_json: str, variables_json: str, seed: int, n: int
) -> list[bool | int | float | None]:
    """Computes a `Formula` n times, with `SessionVariable`s that hold texts.

    Raises:
        EngineError: It has no value, such as 1/0; says why.
    """

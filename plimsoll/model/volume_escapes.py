"""What went past an emulated volume: how much, by whom, and whether the volume's figures stand.

No cap and no latency holds what does not come through the preloaded library: the C library's own
calls (stdio), system calls that a program makes itself, programs without the library. The volume's
watcher counts it.
"""

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.volume_samples import Escape, VolumeSample

ESCAPED_SHARE = 0.01  # of all I/Os, or of all bytes: beyond it the volume held too little


class Escaped(Model):
    """Whether a volume held what was done in its directory, with the figures."""

    held: bool
    operations: int  # that went past it
    bytes: int  # at least
    share: float | None  # of all I/Os or all bytes, whichever is more; None: there were none
    sentence: str | None  # None: nothing went past it, as far as anybody can know


def escaped_share(escaped: tuple[float, float], held: tuple[float, float]) -> float | None:
    """Give the share that went past a volume.

    Args:
        escaped: I/Os and bytes that went past it, or the rates of both.
        held: Those that it held.

    Returns:
        That of the I/Os or of the bytes, whichever is more; None where nothing was done.
    """
    parts = [(past, past + on) for past, on in zip(escaped, held, strict=True)]
    return max((past / total for past, total in parts if total), default=None)


def judge_escapes(before: VolumeSample, after: VolumeSample) -> Escaped:
    """Judge from a volume's counters whether what went past it is too much to be overlooked."""
    then = {escape.program: escape for escape in before.escapes}
    none = Escape(program="", operations=0, ios=0, bytes=0)
    escapes = [
        Escape(
            program=now.program,
            operations=now.operations - then.get(now.program, none).operations,
            ios=now.ios - then.get(now.program, none).ios,
            bytes=now.bytes - then.get(now.program, none).bytes,
        )
        for now in after.escapes
    ]
    operations = sum(escape.operations for escape in escapes)
    size = sum(escape.bytes for escape in escapes)
    share = escaped_share((sum(escape.ios for escape in escapes), size), _held(before, after))
    sentences = []
    if operations:
        sentences.append(
            f"{_amount(operations, size)} went past the volume,"
            f" {words.percent(share)} of what was done: {_by_program(escapes)}"
        )
    if after.unwatched:
        sentences.append("what processes without a watcher moved past the volume could not be seen")
    return Escaped(
        held=(share or 0.0) <= ESCAPED_SHARE,
        operations=operations,
        bytes=size,
        share=share,
        sentence="; ".join(sentences) or None,
    )


def _held(before: VolumeSample, after: VolumeSample) -> tuple[int, int]:
    def all_of(sample: VolumeSample) -> tuple[int, int]:
        operations = sample.read_operations + sample.write_operations
        return operations, sample.read_bytes + sample.write_bytes

    (operations, size), (operations_before, size_before) = all_of(after), all_of(before)
    return operations - operations_before, size - size_before


def _amount(operations: int, size: int) -> str:
    calls = words.plural(operations, "read or write", "reads and writes")
    return f"{calls} ({words.three_figures(size / 2**20)} MiB)"


def _by_program(escapes: list[Escape]) -> str:
    most_first = sorted(escapes, key=lambda escape: -escape.operations)
    return ", ".join(
        f"{escape.program} {_amount(escape.operations, escape.bytes)}"
        if len(most_first) > 1
        else escape.program
        for escape in most_first
        if escape.operations
    )

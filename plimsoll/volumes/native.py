"""Python's view of the native core: the structures of `native/volume.h` and its functions."""

import ctypes
import os
from functools import cache
from pathlib import Path

from plimsoll.volumes.build import find_native_part

LATENCY_DRAWS = 1024
HISTOGRAM_BUCKETS = 256
ESCAPERS = 8
KINDS = ("read", "write", "flush")
LIMITS = (
    "peak_iops",
    "lasting_iops",
    "peak_bytes",
    "lasting_bytes",
    "instance_peak_iops",
    "instance_lasting_iops",
    "instance_peak_bytes",
    "instance_lasting_bytes",
)
HEAL, STALL, SLOW, FAIL = range(4)
NEVER_NS = 2**63 - 1


class LimitConfig(ctypes.Structure):
    """A limit in units (I/Os or bytes) per second; 0 for no limit."""

    _fields_ = (
        ("units_per_s", ctypes.c_double),
        ("credits_max", ctypes.c_double),
        ("credits", ctypes.c_double),
    )


class VolumeConfig(ctypes.Structure):
    """The configuration of a volume."""

    _fields_ = (
        ("limits", LimitConfig * len(LIMITS)),
        ("latency_ns", (ctypes.c_uint32 * LATENCY_DRAWS) * 2),
        ("flush_ios", ctypes.c_double),
        ("backlog_ns", ctypes.c_int64),
        ("cache_blocks", ctypes.c_int64),
        ("read_cache_blocks", ctypes.c_int64),
        ("read_cache_scale", ctypes.c_double),
        ("read_cache_on", ctypes.c_int32),
        ("io_bytes", ctypes.c_uint32),
        ("readahead_bytes", ctypes.c_uint32),
        ("directory", ctypes.c_char * 4096),
    )


class KindSample(ctypes.Structure):
    """The counters of reads, writes or flushes."""

    _fields_ = (
        ("operations", ctypes.c_uint64),
        ("ios", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("time_ns", ctypes.c_uint64),
        ("histogram", ctypes.c_uint64 * HISTOGRAM_BUCKETS),
    )


class EscaperSample(ctypes.Structure):
    """The I/O of one program past the library."""

    _fields_ = (
        ("name", ctypes.c_char * 16),
        ("operations", ctypes.c_uint64),
        ("ios", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
    )


class Sample(ctypes.Structure):
    """All counters of a volume."""

    _fields_ = (
        ("kinds", KindSample * len(KINDS)),
        ("escapers", EscaperSample * ESCAPERS),
        ("failed", ctypes.c_uint64),
        ("late", ctypes.c_uint64),
        ("late_ns", ctypes.c_uint64),
        ("attached", ctypes.c_uint64),
        ("unwatched", ctypes.c_uint64),
        ("maps", ctypes.c_uint64),
        ("refused", ctypes.c_uint64),
        ("backlog_ns", ctypes.c_int64),
        ("credits", ctypes.c_double),
        ("credits_max", ctypes.c_double),
    )


class Fault(ctypes.Structure):
    """A fault."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("error", ctypes.c_int32),
        ("from_ns", ctypes.c_int64),
        ("to_ns", ctypes.c_int64),
        ("factor", ctypes.c_double),
        ("after", ctypes.c_int64),
        ("count", ctypes.c_int64),
    )


class Booking(ctypes.Structure):
    """The time at which an I/O starts, and when it is due."""

    _fields_ = (("start_ns", ctypes.c_int64), ("due_ns", ctypes.c_int64))


@cache
def load_core() -> ctypes.CDLL:
    """Load the native core. It is not the shim: this process is not put on a volume."""
    native = ctypes.CDLL(os.fspath(find_native_part("core")), use_errno=True)
    pointer, i64, double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    signatures: dict[str, tuple[object, tuple[object, ...]]] = {
        "volume_create": (ctypes.c_int, (ctypes.c_char_p, ctypes.POINTER(VolumeConfig), i64)),
        "volume_attach": (pointer, (ctypes.c_char_p,)),
        "volume_detach": (None, (pointer,)),
        "volume_configure": (None, (pointer, ctypes.POINTER(VolumeConfig), i64)),
        "volume_inject": (None, (pointer, ctypes.POINTER(Fault))),
        "volume_read_sample": (None, (pointer, i64, ctypes.POINTER(Sample))),
        "volume_size_of": (ctypes.c_uint64, (ctypes.c_int,)),
        "volume_fault_of": (ctypes.c_int, (pointer, ctypes.c_int)),
        "volume_reserve": (
            Booking,
            (pointer, ctypes.c_int, double, ctypes.c_uint64, i64, ctypes.c_uint32),
        ),
        "cache_touch": (ctypes.c_bool, (pointer, ctypes.c_uint64, ctypes.c_uint64)),
        "histogram_index": (ctypes.c_uint32, (ctypes.c_uint64,)),
        "histogram_upper_us": (ctypes.c_uint64, (ctypes.c_uint32,)),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(native, name)
        function.restype, function.argtypes = result, arguments
    for index, structure in enumerate((VolumeConfig, Sample, Fault)):
        if native.volume_size_of(index) != ctypes.sizeof(structure):
            raise AssertionError(f"{structure.__name__} differs from native/volume.h")
    return native


@cache
def histogram_upper_us() -> tuple[int, ...]:
    """Return the upper bounds of the latency histogram's buckets, in microseconds."""
    return tuple(load_core().histogram_upper_us(index) for index in range(HISTOGRAM_BUCKETS))


class State:
    """A mapped state file.

    Raises:
        OSError: The file does not exist, or is of another version.
    """

    def __init__(self, path: Path) -> None:
        self.pointer: int | None = load_core().volume_attach(os.fsencode(path))
        if self.pointer is None:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), os.fspath(path))

    @staticmethod
    def create(path: Path, config: VolumeConfig, now_ns: int) -> None:
        """Create a state file, which must not exist.

        Raises:
            OSError: It exists, or cannot be created.
        """
        if load_core().volume_create(os.fsencode(path), ctypes.byref(config), now_ns) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), os.fspath(path))

    def configure(self, config: VolumeConfig, now_ns: int) -> None:
        """Change limits and latency immediately for every process on the volume."""
        load_core().volume_configure(self.pointer, ctypes.byref(config), now_ns)

    def inject(self, fault: Fault) -> None:
        """Set a fault."""
        load_core().volume_inject(self.pointer, ctypes.byref(fault))

    def sample(self, now_ns: int) -> Sample:
        """Read all counters."""
        sample = Sample()
        load_core().volume_read_sample(self.pointer, now_ns, ctypes.byref(sample))
        return sample

    def close(self) -> None:
        """Unmap the file."""
        if self.pointer is not None:
            load_core().volume_detach(self.pointer)
            self.pointer = None

"""How unevenly keys are asked for: the chance that two calls have the same key, in little memory.

The chance is the sum of the squared shares of all keys. A row of counters estimates it without a
counter for each key (N. Alon, Y. Matias, M. Szegedy, "The Space Complexity of Approximating the
Frequency Moments", STOC 1996; with buckets: M. Charikar, K. Chen, M. Farach-Colton, "Finding
Frequent Items in Data Streams", ICALP 2002): a key's hash chooses a counter and whether it counts
up or down, so that other keys of the counter cancel out on average. The relative standard error is
`sqrt(2 / COUNTERS)`. Keys are hashed with a key of this process, and no hash is kept.
"""

import math
from array import array

COUNTERS = 1 << 13
_DISTINCT_BITS = 1 << 16  # the bitmap that estimates the number of keys (linear counting)


class KeySketch:
    """Counts the keys of one kind of statement.

    Attributes:
        calls: The number of calls.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._counters = array("q", bytes(8 * COUNTERS))
        self._bits = bytearray(_DISTINCT_BITS // 8)

    def add(self, key: int) -> None:
        """Count a call with a key, given by its 64-bit hash."""
        self.calls += 1
        self._counters[key & (COUNTERS - 1)] += 1 if key & COUNTERS else -1
        bit = (key >> 20) & (_DISTINCT_BITS - 1)
        self._bits[bit >> 3] |= 1 << (bit & 7)

    @property
    def same(self) -> float:
        """The estimated chance that two calls have the same key."""
        if self.calls < 2:
            return 0.0
        squares = sum(count * count for count in self._counters)
        pairs = self.calls * (self.calls - 1)
        return min(1.0, max(0.0, (squares - self.calls) / pairs))

    @property
    def distinct(self) -> int:
        """The estimated number of different keys; at least that many if there are very many."""
        free = _DISTINCT_BITS - sum(byte.bit_count() for byte in self._bits)
        return round(_DISTINCT_BITS * math.log(_DISTINCT_BITS / max(free, 1)))

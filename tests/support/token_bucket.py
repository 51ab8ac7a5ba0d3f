"""A token bucket: what AWS allows at once, and how fast it allows more."""


class TokenBucket:
    """A bucket that is full at first.

    Attributes:
        since_s: When it was made, by the caller's clock.
    """

    def __init__(self, size: float, per_s: float, at_s: float) -> None:
        self._size = self._tokens = size
        self._per_s = per_s
        self._filled_s = self.since_s = at_s

    def take(self, at_s: float) -> bool:
        """Take a token; False if there is none."""
        filled = self._tokens + (at_s - self._filled_s) * self._per_s
        self._tokens, self._filled_s = min(self._size, filled), at_s
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

"""How reads of pages change with the memory that keeps pages.

Of pages that are asked for independently of each other, the misses of a least-recently-used pool
are a convex function of its size: each further page helps less than the one before (H. Che, Y. Tung
and Z. Wang, "Hierarchical Web Caching Systems", IEEE JSAC 20(7), 2002, whose approximation shows
it). Two of its points are known beside the one that was measured: a pool without a page misses
every request, one that holds all pages misses none. So the curve lies below its chords and above
their continuations, whatever the popularity of the pages.
"""

from dataclasses import dataclass

from plimsoll.sizing.guess import Guess

MORE_PAGES = 1.1  # what a dataset may need beyond its own pages: undo, the dictionary
TOWARDS_MOST = 0.75  # of the way from the least to the most: popularity is seldom steep by the page


@dataclass(frozen=True)
class Pool:
    """A buffer pool under a load.

    Attributes:
        pages: That it holds.
        dataset_pages: That there are.
        miss_share: Of the requests for pages, those that read from storage.
    """

    pages: float
    dataset_pages: float
    miss_share: float

    def reads_at(self, pages: float) -> Guess:
        """Say how many times as many pages are read with a pool of another size."""
        if pages == self.pages or not self.miss_share:
            return Guess.sure(1.0 if self.miss_share else 0.0)
        grown = pages / self.pages - 1
        # the line through the pool without a page, which misses all
        from_none = max(0.0, 1 - (1 / self.miss_share - 1) * grown)
        if grown > 0:
            most = self._to_all(pages, MORE_PAGES * self.dataset_pages)
            least = min(from_none, most)
        else:
            least = max(1.0, self._to_all(pages, self.dataset_pages))
            most = max(least, from_none)
        return Guess(low=least, mid=least + TOWARDS_MOST * (most - least), high=most)

    def _to_all(self, pages: float, needed: float) -> float:
        """The line through the pool that holds every page, which misses none."""
        if needed <= self.pages:
            return 1.0
        return max(0.0, (needed - pages) / (needed - self.pages))

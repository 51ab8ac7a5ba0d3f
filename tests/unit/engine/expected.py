"""The published definitions of the distributions, computed here on their own.

Each function gives the probability of every number from 0 to n - 1. None looks at the engine.
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def uniform(n: int) -> Floats:
    return np.full(n, 1 / n)


def zeta(n: int, theta: float) -> float:
    return float(np.sum(np.arange(1, n + 1, dtype=np.float64) ** -theta))


def zipf(n: int, exponent: float) -> Floats:
    """P(k) proportional to (k + 1)^-exponent."""
    weights = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum())


def gray(n: int, theta: float, *, upto: int | None = None, zeta_n: float | None = None) -> Floats:
    """Gray et al., "Quickly generating billion-record synthetic databases" (1994), section 3.2.

    With u uniform and z = zeta(n): u z < 1 gives 0, u z < 1 + 0.5^theta gives 1, any other u gives
    floor(n (eta u - eta + 1)^alpha): a continuous approximation, inverted here for each number.
    Probabilities of the first `upto` numbers.
    """
    z = zeta_n if zeta_n is not None else zeta(n, theta)
    first, second = 1 / z, (1 + 0.5**theta) / z
    eta = (1 - (2 / n) ** (1 - theta)) / (1 - zeta(2, theta) / z)
    k = np.arange((upto or n) + 1, dtype=np.float64)
    u = ((k / n) ** (1 - theta) - 1 + eta) / eta
    u = np.clip(u, second, 1)
    if upto is None:
        u[-1] = 1
    probabilities = np.diff(u)
    probabilities[0] += first
    probabilities[1] += second - first
    return np.asarray(probabilities)


def fnv_1a(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """FNV-1a (Fowler, Noll, Vo) over eight octets, lowest first, then Java's Math.abs."""
    hashes = np.full(values.shape, 0xCBF29CE484222325, dtype=np.uint64)
    for octet in range(8):
        hashes ^= (values >> np.uint64(8 * octet)) & np.uint64(0xFF)
        hashes *= np.uint64(1099511628211)
    return np.abs(hashes.view(np.int64)).view(np.uint64)


def scrambled(n: int, theta: float = 0.99) -> Floats:
    """YCSB's ScrambledZipfianGenerator: ranks from 0 to 10^10, hashed, modulo n.

    The first two million ranks are taken one by one; the others, each of them too rare to matter,
    fall on every number alike.
    """
    ranks = gray(10**10 + 1, theta, upto=2_000_000, zeta_n=26.46902820178302)
    buckets = fnv_1a(np.arange(len(ranks), dtype=np.uint64)) % np.uint64(n)
    probabilities = np.bincount(buckets.astype(np.int64), weights=ranks, minlength=n)
    return np.asarray(probabilities + (1 - ranks.sum()) / n)


def scrambled_keys(n: int) -> Floats:
    """YCSB's CoreWorkload: n + 1 keys are drawn from, both ends included; the last is not there.

    What is not there is drawn again.
    """
    there = scrambled(n + 1)[:n]
    return np.asarray(there / there.sum())


def latest(n: int, theta: float) -> Floats:
    """YCSB's SkewedLatestGenerator: the newest key, less a zipfian number below it.

    The newest is n - 1, so that there are as many numbers: key 0 is not drawn.
    """
    return np.concatenate([[0.0], gray(n - 1, theta)[::-1]])


def hotspot(n: int, hot_set: float, hot_operations: float) -> Floats:
    """YCSB's HotspotIntegerGenerator."""
    hot = int(n * hot_set)
    probabilities = np.empty(n)
    probabilities[:hot] = hot_operations / hot
    probabilities[hot:] = (1 - hot_operations) / (n - hot)
    return probabilities


def exponential_from_newest(n: int, percentile: float, fraction: float) -> Floats:
    """YCSB's ExponentialGenerator, taken back from the newest row; too far back is drawn again."""
    gamma = -math.log(1 - percentile / 100) / (n * fraction)
    steps = np.arange(n + 1, dtype=np.float64)
    probabilities = -np.diff(np.exp(-gamma * steps))
    return np.asarray((probabilities / probabilities.sum())[::-1])


def irwin_hall_mean_below(x: Floats, terms: int) -> Floats:
    """P(mean of so many uniform numbers < x)."""
    total = np.zeros_like(x)
    for k in range(terms + 1):
        reach = np.clip(terms * x - k, 0, None)
        total += (-1) ** k * math.comb(terms, k) * reach**terms / math.factorial(terms)
    return np.clip(total, 0, 1)


def gaussian(n: int, iterations: int = 12) -> Floats:
    """sysbench's gaussian: floor(n x the mean of uniform numbers)."""
    edges = np.arange(n + 1, dtype=np.float64) / n
    return np.asarray(np.diff(irwin_hall_mean_below(edges, iterations)))


def special(n: int, iterations: int = 12, hot_set: int = 1, hot_operations: int = 75) -> Floats:
    """sysbench 1.0's special (sb_rand_special in sb_rand.c).

    t = n - 1. A uniform r below 1 - hot_operations/100 gives floor(t x the mean of uniforms); any
    other gives floor(r (t hot_set/100 + 1) + t/2 - t hot_set/200).
    """
    t = n - 1
    others = 1 - hot_operations / 100
    edges = np.arange(n + 1, dtype=np.float64)
    centered = irwin_hall_mean_below(np.clip(edges / t, 0, 1), iterations)
    width = t * hot_set / 100 + 1
    r_at_edge = (edges - t / 2 + t * hot_set / 200) / width
    hot_below = np.clip(r_at_edge, others, 1) - others
    return np.asarray(np.diff(others * centered + hot_below))


def pareto(n: int, h: float) -> Floats:
    """sysbench's pareto: floor(n u^p) with p = ln h / ln(1 - h)."""
    power = math.log(h) / math.log(1 - h)
    edges = np.arange(n + 1, dtype=np.float64) / n
    return np.asarray(np.diff(edges ** (1 / power)))


def chi_squared_p(observed: npt.NDArray[np.int64], probabilities: Floats) -> float:
    """P(a fit at least as bad by chance), neighbors merged until each bin expects 10 draws.

    The tail of chi-squared by Wilson and Hilferty's cube root (1931).
    """
    total = int(observed.sum())
    bins: list[tuple[float, float]] = []
    seen = wanted = 0.0
    for count, probability in zip(observed, probabilities, strict=True):
        seen += count
        wanted += probability * total
        if wanted >= 10:
            bins.append((seen, wanted))
            seen = wanted = 0.0
    if bins:
        bins[-1] = (bins[-1][0] + seen, bins[-1][1] + wanted)
    statistic: float = sum((seen - wanted) ** 2 / wanted for seen, wanted in bins)
    freedom = len(bins) - 1
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


def kolmogorov_p(uniforms: Floats) -> float:
    """P(a sample at least as far from uniform by chance): Kolmogorov's series."""
    ordered = np.sort(uniforms)
    n = len(ordered)
    ranks = np.arange(1, n + 1)
    distance = max(np.max(ranks / n - ordered), np.max(ordered - (ranks - 1) / n))
    x = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * float(distance)
    series: float = sum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101))
    return min(1.0, max(0.0, 2 * series))

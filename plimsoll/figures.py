"""Figures as people read them, each with its unit: 420 µs, 8.92 ms, 1,092 ops/s."""


def latency(us: float) -> str:
    """Write a latency with three figures and the unit that suits: `420 µs`, `8.92 ms`, `1.20 s`."""
    for unit_us, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= 0.9995 * unit_us:
            value = us / unit_us
            return f"{value:.{max(0, 3 - len(str(int(value))))}f} {unit}"
    return f"{us:.0f} µs"


def rate(per_second: float) -> str:
    """Write operations per second without the unit: whole from 100 up, else one decimal."""
    return f"{per_second:,.0f}" if per_second >= 99.95 else f"{per_second:,.1f}"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """Count something; `many` where its plural has more than an `s`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"

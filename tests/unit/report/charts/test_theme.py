"""The colors can be read, and told apart, in light and in dark and with any color vision."""

from itertools import combinations

import pytest

from plimsoll.report.charts.theme import COLORS, SERIES, TARGET, Theme, insert_colors

Linear = tuple[float, float, float]

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
VISIONS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(color: str) -> Linear:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return r, g, b


def luminance(color: str) -> float:
    r, g, b = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lab(color: str, vision: str) -> Linear:
    rgb = linear(color)
    seen = [
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True))))
        for row in VISIONS[vision]
    ]
    r, g, b = seen
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(a: str, b: str, vision: str) -> float:
    pairs = zip(lab(a, vision), lab(b, vision), strict=True)
    return float(sum((p - q) ** 2 for p, q in pairs) ** 0.5)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["page", "surface"])
def test_text_can_be_read(theme: Theme, ground: str) -> None:
    colors = COLORS[theme]
    for name in ("ink", "muted", "pass", "fail", "warn"):
        assert contrast(colors[name], colors[ground]) >= 4.5, name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_series_stand_out_from_the_ground(theme: Theme) -> None:
    colors = COLORS[theme]
    for n in range(1, 7):
        assert contrast(colors[f"series-{n}"], colors["surface"]) >= 3, n


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", sorted(VISIONS))
def test_the_first_four_series_are_told_apart(theme: Theme, vision: str) -> None:
    series = [COLORS[theme][f"series-{n}"] for n in range(1, 5)]
    for a, b in combinations(series, 2):
        assert distance(a, b, vision) >= 12, (a, b)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", sorted(VISIONS))
def test_what_lies_on_top_of_one_another_is_far_apart(theme: Theme, vision: str) -> None:
    """Blocks side by side in half-tone: reads and updates, the volume's reads and writes."""
    for pair in (SERIES[:2], TARGET[:2]):
        lower, upper = (COLORS[theme][name.removeprefix("var(--").rstrip(")")] for name in pair)
        assert distance(lower, upper, vision) >= 30


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_heat_grows_steadily(theme: Theme) -> None:
    steps = [luminance(COLORS[theme][f"heat-{n}"]) for n in range(1, 8)]
    assert steps == sorted(steps, reverse=theme == "light")


def test_both_themes_have_the_same_colors() -> None:
    assert COLORS["light"].keys() == COLORS["dark"].keys()


def test_resolved_leaves_no_variable() -> None:
    drawn = '<path fill="var(--series-1)" stroke="var(--ink)"/>'
    assert insert_colors(drawn, "dark") == '<path fill="#5ab4f2" stroke="#e9eff5"/>'

"""Draw the table of `benchmarks.volume_mariadb plateau`: `python -m benchmarks.volume_plot SVG`.

Reads the Markdown table on standard input.
"""

import sys
from pathlib import Path

from plimsoll.report.charts import theme
from plimsoll.report.charts.chart import Chart, Key, Line, Mark, Panel, Rule
from plimsoll.report.charts.scale import Scale
from plimsoll.report.pictures import draw_sheet

CLIENTS = Scale(1, 64, "clients", log=True, ticks=[(n, str(n)) for n in (1, 4, 16, 64)])
HEIGHT_PX = 260


def main() -> None:
    """Draw reads per second and their mean latency against clients, one line for each IOPS."""
    rows = [
        [float(cell.strip().replace(",", "")) for cell in line.strip().strip("|").split("|")[:4]]
        for line in sys.stdin
        if line.startswith("| ") and line[2].isdigit()
    ]
    caps = sorted({iops for iops, *_ in rows}, reverse=True)
    colors = dict(zip(caps, theme.choose_series_colors(len(caps)), strict=True))

    def lines(column: int) -> list[Mark]:
        return [
            Line([[(row[1], row[column]) for row in rows if row[0] == iops]], color)
            for iops, color in colors.items()
        ]

    rate = Scale(
        200,
        5000,
        "reads per second (dashed: IOPS set)",
        log=True,
        ticks=[(iops, f"{iops:,.0f}") for iops in caps],
    )
    latency = Scale(
        0.5,
        300,
        "mean latency (ms)",
        log=True,
        ticks=[(2.0**n, f"{2.0**n:g}") for n in range(-1, 9)],
    )
    rules = [Rule(theme.MUTED, y=iops, dash="4 4") for iops in caps]
    keys = [Key(f"{iops:,.0f} IOPS", color, "line") for iops, color in colors.items()]
    panels = [
        Panel("rate", CLIENTS, rate, [*rules, *lines(2)], HEIGHT_PX, keys),
        Panel("latency", CLIENTS, latency, lines(3), HEIGHT_PX),
    ]
    picture = draw_sheet("Reads of an emulated volume", "", [Chart("plateau", panels)])
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(picture.svg, "utf-8")


if __name__ == "__main__":
    main()

"""Draw the table of `benchmarks.volume_mariadb plateau`: `python -m benchmarks.volume_plot SVG`.

Reads the Markdown table on standard input.
"""

import sys
from pathlib import Path

import altair as alt


def main() -> None:
    """Draw reads per second and their mean latency against clients, one line for each IOPS."""
    rows = [
        [cell.strip().replace(",", "") for cell in line.strip().strip("|").split("|")]
        for line in sys.stdin
        if line.startswith("| ") and line[2].isdigit()
    ]
    values = [
        {
            "IOPS set": int(iops),
            "clients": int(clients),
            "reads per second": float(rate),
            "mean latency (ms)": float(mean_ms),
        }
        for iops, clients, rate, mean_ms, *_ in rows
    ]
    order = sorted({value["IOPS set"] for value in values}, reverse=True)
    base = (
        alt.Chart(alt.Data(values=values), width=300, height=260)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "clients:Q",
                scale=alt.Scale(type="log", base=4, domain=[1, 64]),
                axis=alt.Axis(values=[1, 4, 16, 64]),
            ),
            color=alt.Color("IOPS set:O", sort=order, scale=alt.Scale(scheme="viridis")),
        )
    )
    caps = (
        alt.Chart(alt.Data(values=[{"cap": iops} for iops in order]))
        .mark_rule(strokeDash=[4, 4], color="gray")
        .encode(y=alt.Y("cap:Q", title=""))
    )
    rate = alt.Y(
        "reads per second:Q",
        title="reads per second (dashed: IOPS set)",
        scale=alt.Scale(type="log", domain=[200, 5000], nice=False),
        axis=alt.Axis(values=order),
    )
    latency = alt.Y(
        "mean latency (ms):Q",
        scale=alt.Scale(type="log", domain=[0.5, 300], nice=False),
        axis=alt.Axis(values=[0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256]),
    )
    chart = (base.encode(y=rate) + caps) | base.encode(y=latency)
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    chart.save(sys.argv[1])


if __name__ == "__main__":
    main()

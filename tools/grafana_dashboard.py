"""Write docs/grafana/plimsoll.json: a dashboard for what the InfluxDB sink writes.

Built with Grafana's own Foundation SDK, so that it keeps to Grafana's schema. The queries are
InfluxQL, which InfluxDB 1, 2 (Timestream for InfluxDB) and 3 all answer.
"""

import json
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import dashboard, table, timeseries
from grafana_foundation_sdk.builders.common import (
    ScaleDistributionConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    ScaleDistribution,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    VariableRefresh,
    VariableSort,
)

FILE = Path(__file__).resolve().parents[1] / "docs/grafana/plimsoll.json"
SOURCE = DataSourceRef(type_val="influxdb", uid="${datasource}")
RUN = '"run" =~ /^$run$/ AND $timeFilter'


class InfluxQuery(Dataquery, Builder[Dataquery]):
    """One InfluxQL query; the SDK has no class of its own for it."""

    def __init__(self, query: str, alias: str = "", result_format: str = "time_series") -> None:
        """Args as in Grafana's InfluxDB data source."""
        self.query, self.alias, self.result_format = query, alias, result_format

    def build(self) -> Dataquery:
        """It is what it builds."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The query as a panel holds it."""
        return {
            "refId": "A",
            "datasource": SOURCE,
            "rawQuery": True,
            "query": self.query,
            "alias": self.alias,
            "resultFormat": self.result_format,
        }


def _every_second(field: str) -> str:
    """The sum over clients of a count, second by second, averaged over the screen's interval."""
    inner = (
        f'SELECT sum("{field}") AS "rate" FROM "plimsoll_second" WHERE {RUN}'
        ' GROUP BY time(1s), "operation"'
    )
    return (
        f'SELECT mean("rate") FROM ({inner}) WHERE $timeFilter'
        ' GROUP BY time($__interval), "operation" fill(none)'
    )


def _worst_client(field: str) -> str:
    return (
        f'SELECT max("{field}") FROM "plimsoll_second" WHERE {RUN}'
        ' GROUP BY time($__interval), "operation" fill(none)'
    )


def _target(*fields: str) -> str:
    means = ", ".join(f'mean("{field}") AS "{field}"' for field in fields)
    where = f"{RUN} GROUP BY time($__interval) fill(none)"
    return f'SELECT {means} FROM "plimsoll_target" WHERE {where}'


def _steps(measurement: str, fields: tuple[str, ...], tags: str) -> str:
    columns = ", ".join(f'"{field}"' for field in fields)
    return f'SELECT {columns} FROM "{measurement}" WHERE {RUN} GROUP BY {tags}'


def _lines(title: str, about: str, unit: str, query: InfluxQuery) -> timeseries.Panel:
    return (
        timeseries.Panel()
        .title(title)
        .description(about)
        .datasource(SOURCE)
        .unit(unit)
        .with_target(query)
        .fill_opacity(10)
        .span(12)
        .height(8)
        .legend(
            VizLegendOptions()
            .display_mode(LegendDisplayMode.TABLE)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "max"])
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    )


def _table(title: str, about: str, query: InfluxQuery) -> table.Panel:
    panel = table.Panel().title(title).description(about).datasource(SOURCE)
    return panel.with_target(query).span(24).height(8)


def _panels() -> list[timeseries.Panel | table.Panel]:
    counted = "Successful operations a second, all clients together. Failed ones are no throughput."
    worst = (
        "The p99 of every second, of the client that had the worst: percentiles of several clients"
        " cannot be merged here. The tables below have those of the merged histograms."
    )
    alias = "$tag_operation"
    latency = _lines(
        "p99 latency, worst client", worst, "µs", InfluxQuery(_worst_client("p99_us"), alias)
    )
    return [
        _lines("Throughput", counted, "ops", InfluxQuery(_every_second("succeeded"), alias)),
        latency.scale_distribution(ScaleDistributionConfig().type(ScaleDistribution.LOG).log(10)),
        _lines(
            "Failed operations",
            "Operations that failed a second, time-outs among them.",
            "ops",
            InfluxQuery(_every_second("errors"), alias),
        ),
        _lines(
            "Volume: I/O a second",
            "The target's volume.",
            "iops",
            InfluxQuery(_target("read_iops", "write_iops"), "$col"),
        ),
        _lines(
            "Volume: queue",
            "I/Os under way.",
            "short",
            InfluxQuery(_target("queue"), "$col"),
        ),
        _lines(
            "Credits left, server's CPU",
            "Of gp2 volumes and small instances; absent where there are none.",
            "percent",
            InfluxQuery(
                _target("burst_balance_percent", "ebs_io_balance_percent", "cpu_percent"), "$col"
            ),
        ),
        _table(
            "Steps",
            "One row for each step, stamped with the end of its window.",
            InfluxQuery(
                _steps(
                    "plimsoll_step",
                    (
                        "clients",
                        "connections",
                        "throughput_ops_per_second",
                        "errors",
                        "client_busy",
                    ),
                    '"run", "step"',
                ),
                result_format="table",
            ),
        ),
        _table(
            "Latency of each step, µs",
            "Of the merged histograms of all clients.",
            InfluxQuery(
                _steps(
                    "plimsoll_latency",
                    ("mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "max_us"),
                    '"run", "step", "operation"',
                ),
                result_format="table",
            ),
        ),
    ]


def build() -> str:
    """The dashboard as JSON."""
    runs = (
        dashboard.QueryVariable("run")
        .label("run")
        .datasource(SOURCE)
        .query('SHOW TAG VALUES FROM "plimsoll_second" WITH KEY = "run"')
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_DESC)
    )
    made = (
        dashboard.Dashboard("Plimsoll: a run")
        .uid("plimsoll-run")
        .description("What the load clients and the target did, second by second, and each step.")
        .tags(["plimsoll"])
        .editable()
        .timezone("utc")
        .time("now-1h", "now")
        .refresh("10s")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .with_variable(
            dashboard.DatasourceVariable("datasource").label("InfluxDB").type("influxdb")
        )
        .with_variable(runs)
    )
    for panel in _panels():
        made = made.with_panel(panel)
    return json.dumps(made.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(build())

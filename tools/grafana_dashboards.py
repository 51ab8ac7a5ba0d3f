"""Write docs/grafana/*.json: a dashboard of a run for each store, all of one list of panels.

Built with Grafana's own Foundation SDK, so that they keep to Grafana's schema. InfluxQL is what
InfluxDB 1, 2 (Timestream for InfluxDB) and 3 all answer.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, assert_never

from grafana_foundation_sdk.builders import bargauge, cloudwatch, dashboard, prometheus, timeseries
from grafana_foundation_sdk.builders import table as tables
from grafana_foundation_sdk.builders.common import (
    ReduceDataOptions,
    ScaleDistributionConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.cloudwatch import (
    CloudWatchQueryMode,
    MetricEditorMode,
    MetricQueryType,
)
from grafana_foundation_sdk.models.common import (
    LegendDisplayMode,
    LegendPlacement,
    ScaleDistribution,
    TooltipDisplayMode,
    VizOrientation,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    VariableRefresh,
    VariableSort,
)

from plimsoll.metrics.panels import PANELS, Asked, Metric, Panel

FOLDER = Path(__file__).resolve().parents[1] / "docs/grafana"
Store = Literal["influxdb", "prometheus", "cloudwatch"]
Drawn = timeseries.Panel | tables.Panel | bargauge.Panel
Query = Builder[Dataquery]


@dataclass(frozen=True)
class Of:
    """What a store's dashboard has of its own: its name for people, and how it names the runs."""

    label: str
    runs: str


STORES: dict[Store, Of] = {
    "influxdb": Of("InfluxDB", 'SHOW TAG VALUES FROM "plimsoll_second" WITH KEY = "run"'),
    "prometheus": Of("Prometheus", "label_values(plimsoll_run, run)"),
    "cloudwatch": Of(
        "CloudWatch", "dimension_values(default, $deployment, throughput_ops_per_second, run)"
    ),
}


class InfluxQuery(Dataquery, Builder[Dataquery]):
    """One InfluxQL query; the SDK has no class of its own for it."""

    def __init__(self, asked: Asked, result_format: str) -> None:
        """Args as in Grafana's InfluxDB data source."""
        self.asked, self.result_format = asked, result_format

    def build(self) -> Dataquery:
        """It is what it builds."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The query as a panel holds it."""
        return {
            "refId": "A",
            "datasource": _source("influxdb"),
            "rawQuery": True,
            "query": self.asked.query,
            "alias": self.asked.legend,
            "resultFormat": self.result_format,
        }


def _source(store: Store) -> DataSourceRef:
    return DataSourceRef(type_val=store, uid="${datasource}")


def _prometheus(asked: Asked, ref: str) -> Query:
    query = prometheus.Dataquery().ref_id(ref).datasource(_source("prometheus"))
    return query.expr(asked.query).legend_format(asked.legend).range()


def _cloudwatch(metric: Metric, ref: str) -> Query:
    return (
        cloudwatch.CloudWatchMetricsQuery()
        .ref_id(ref)
        .datasource(_source("cloudwatch"))
        .query_mode(CloudWatchQueryMode.METRICS)
        .metric_query_type(MetricQueryType.SEARCH)
        .metric_editor_mode(MetricEditorMode.BUILDER)
        .region("default")
        .namespace(metric.namespace)
        .metric_name(metric.name)
        .dimensions(dict(metric.dimensions))
        .match_exact(True)
        .statistic("Average")
        .period("60")
        .label(metric.legend)
    )


def _queries(panel: Panel, store: Store) -> list[Query]:
    match store:
        case "influxdb":
            form = "table" if panel.table else "time_series"
            return [InfluxQuery(panel.influxdb, form)] if panel.influxdb else []
        case "prometheus":
            return [
                _prometheus(asked, ref) for asked, ref in zip(panel.prometheus, "ABC", strict=False)
            ]
        case "cloudwatch":
            return [
                _cloudwatch(metric, ref)
                for metric, ref in zip(panel.cloudwatch, "ABC", strict=False)
            ]
        case _:
            assert_never(store)


def _lines(panel: Panel) -> timeseries.Panel:
    drawn = (
        timeseries.Panel()
        .unit(panel.unit)
        .fill_opacity(10)
        .legend(
            VizLegendOptions()
            .display_mode(LegendDisplayMode.TABLE)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(True)
            .calcs(["mean", "max"])
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    )
    if panel.logarithmic:
        drawn.scale_distribution(ScaleDistributionConfig().type(ScaleDistribution.LOG).log(10))
    return drawn


def _bars(panel: Panel) -> bargauge.Panel:
    """A bar for each step: a file for Prometheus tells all of them at one time."""
    last = ReduceDataOptions().calcs(["lastNotNull"])
    return (
        bargauge.Panel()
        .unit(panel.unit)
        .orientation(VizOrientation.HORIZONTAL)
        .reduce_options(last)
        .min(0)
    )


def _drawn(panel: Panel, store: Store, queries: list[Query]) -> Drawn:
    drawn: Drawn
    if panel.table:
        drawn = tables.Panel().show_header(show_header=True).span(24)
    else:
        drawn = (_bars if store == "prometheus" else _lines)(panel).span(12)
    drawn.title(panel.title).description(panel.about).datasource(_source(store)).height(8)
    for query in queries:
        drawn.with_target(query)
    return drawn


def build(store: Store) -> str:
    """A store's dashboard as JSON."""
    of = STORES[store]
    runs = (
        dashboard.QueryVariable("run")
        .label("run")
        .datasource(_source(store))
        .query(of.runs)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_DESC)
    )
    made = (
        dashboard.Dashboard(f"Plimsoll: a run ({of.label})")
        .uid(f"plimsoll-run-{store}")
        .description("The answer of a run, and what the load clients and the target did.")
        .tags(["plimsoll"])
        .editable()
        .timezone("utc")
        .time("now-1h", "now")
        .refresh("10s")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .with_variable(dashboard.DatasourceVariable("datasource").label(of.label).type(store))
    )
    if store == "cloudwatch":
        name = dashboard.TextBoxVariable("deployment").label("deployment's stack")
        made = made.with_variable(name.default_value("Plimsoll"))
    made = made.with_variable(runs)
    for panel in PANELS:
        if queries := _queries(panel, store):
            made = made.with_panel(_drawn(panel, store, queries))
    return json.dumps(made.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in STORES:
        (FOLDER / f"{name}.json").write_text(build(name))

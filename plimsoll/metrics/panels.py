"""The panels that show a run, defined once for every metric store.

`tools/grafana_dashboards.py` turns this list into Grafana dashboards, and `stacks/dashboard.py`
into a deployment's CloudWatch dashboard. Each store has its own query language, in which `$run` is
the run; a panel has no query for a store that lacks the data. docs/metrics.md lists what each store
gets.
"""

from collections.abc import Mapping
from dataclasses import dataclass

RUN = '"run" =~ /^$run$/ AND $timeFilter'
BY_INTERVAL = "time($__interval)"
OF_RUN = '{run=~"$run"}'
RDS = "AWS/RDS"
NAMESPACE = "$deployment"  # the stack's name, which is the namespace of the deployment's metrics


@dataclass(frozen=True)
class Asked:
    """A query with the legend of each series in its result."""

    query: str
    legend: str


@dataclass(frozen=True)
class Metric:
    """A CloudWatch metric, as a mean per minute; a dimension `*` gives one series per value."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]
    legend: str


@dataclass(frozen=True)
class Panel:
    """A panel.

    Attributes:
        title: The panel's title.
        about: A description of its figures.
        unit: Grafana's name of their unit.
        influxdb: The InfluxQL query, by second or sample; None if InfluxDB lacks the data.
        prometheus: The PromQL queries, by step, as Prometheus gets the metrics once at the end.
        cloudwatch: The CloudWatch metrics, by step or of the target itself.
        logarithmic: Whether the figures span orders of magnitude.
        table: Whether to show rows instead of lines.
    """

    title: str
    about: str
    unit: str
    influxdb: Asked | None
    prometheus: tuple[Asked, ...] = ()
    cloudwatch: tuple[Metric, ...] = ()
    logarithmic: bool = False
    table: bool = False


def _select(columns: str, measurement: str, by: str) -> str:
    return f'SELECT {columns} FROM "{measurement}" WHERE {RUN} GROUP BY {by}'


def _query_every_second(field: str) -> Asked:
    """Query a count per second, summed over clients and averaged over the screen's interval."""
    seconds = _select(f'sum("{field}") AS "rate"', "plimsoll_second", 'time(1s), "operation"')
    by = f'{BY_INTERVAL}, "operation" fill(none)'
    query = f'SELECT mean("rate") FROM ({seconds}) WHERE $timeFilter GROUP BY {by}'
    return Asked(query, "$tag_operation")


def _query_worst_client(field: str) -> Asked:
    by = f'{BY_INTERVAL}, "operation" fill(none)'
    return Asked(_select(f'max("{field}")', "plimsoll_second", by), "$tag_operation")


def _query_samples(*fields: str, times: int = 1) -> Asked:
    scale = f" * {times}" if times != 1 else ""
    columns = ", ".join(f'mean("{field}"){scale} AS "{field}"' for field in fields)
    return Asked(_select(columns, "plimsoll_target", f"{BY_INTERVAL} fill(none)"), "$col")


def _query_rows(measurement: str, fields: tuple[str, ...], tags: str) -> Asked:
    return Asked(_select(", ".join(f'"{field}"' for field in fields), measurement, tags), "")


def _query_steps(name: str, of: str = "", *, times: str = "") -> Asked:
    label = f" {{{{{of}}}}}" if of else ""
    return Asked(f"{times}plimsoll_step_{name}{OF_RUN}", f"step {{{{step}}}}{label}")


def _make_own_metric(
    name: str, by: str | None = None, legend: str = "${PROP('MetricName')}"
) -> Metric:
    return Metric(NAMESPACE, name, {"run": "$run"} | ({by: "*"} if by else {}), legend)


def _list_rds_metrics(*names: str) -> tuple[Metric, ...]:
    dimensions = {"DBInstanceIdentifier": "plimsoll-$run"}
    return tuple(Metric(RDS, name, dimensions, name) for name in names)


_FIGURES = ("capacity_ops_per_second", "low_ops_per_second", "high_ops_per_second")
_OF_OPERATION = "${PROP('Dim.operation')}"
_P99 = (
    "histogram_quantile(0.99, sum by (le, step, operation)"
    f" (plimsoll_operation_duration_seconds_bucket{OF_RUN}))"
)
PANELS = (
    Panel(
        "Load line",
        "The most that the run sustains within its limits, and its 95 % interval. Where the bound"
        " is >= or <, it is no more than that: the maximum was not found.",
        "ops",
        Asked(
            _select(
                ", ".join(f'last("{field}") AS "{field}"' for field in _FIGURES),
                "plimsoll_run",
                f'{BY_INTERVAL}, "bound" fill(none)',
            ),
            "$col, bound $tag_bound",
        ),
        (
            Asked(f"plimsoll_capacity_operations_per_second{OF_RUN}", "bound {{bound}}"),
            Asked(
                f"plimsoll_capacity_interval_operations_per_second{OF_RUN}",
                "{{end}} end of its 95 % interval",
            ),
        ),
        tuple(
            _make_own_metric(field, "bound", "${PROP('MetricName')}, bound ${PROP('Dim.bound')}")
            for field in _FIGURES
        ),
    ),
    Panel(
        "Throughput",
        "Successful operations a second, all clients together. Failed ones are no throughput.",
        "ops",
        _query_every_second("succeeded"),
        (_query_steps("throughput_operations_per_second"),),
        (_make_own_metric("throughput_ops_per_second"),),
    ),
    Panel(
        "p99 latency",
        "Of a step: of the merged histograms of all clients (Prometheus: between two bounds of the"
        " histogram). Of a second: of the client that had the worst, since percentiles of several"
        " clients cannot be merged.",
        "µs",
        _query_worst_client("p99_us"),
        (Asked(f"1e6 * {_P99}", "step {{step}} {{operation}}"),),
        (_make_own_metric("p99_us", "operation", _OF_OPERATION),),
        logarithmic=True,
    ),
    Panel(
        "Failed operations",
        "Time-outs among them: those of each second, or of each step's window.",
        "short",
        _query_every_second("errors"),
        (
            Asked(
                f"sum by (step, operation, code) (plimsoll_operation_errors_total{OF_RUN})",
                "step {{step}} {{operation}} {{code}}",
            ),
        ),
        (_make_own_metric("errors"),),
    ),
    Panel(
        "Volume: I/O a second",
        "Reads and writes of the target's volume.",
        "iops",
        _query_samples("read_iops", "write_iops"),
        (_query_steps("volume_io_operations_per_second", "direction"),),
        _list_rds_metrics("ReadIOPS", "WriteIOPS"),
    ),
    Panel(
        "Volume: throughput",
        "Read from and written to the target's volume.",
        "binBps",
        _query_samples("read_mib_s", "write_mib_s", times=2**20),
        (_query_steps("volume_throughput_bytes_per_second", "direction"),),
        _list_rds_metrics("ReadThroughput", "WriteThroughput"),
    ),
    Panel(
        "Volume: queue",
        "I/Os under way at the target's volume.",
        "short",
        _query_samples("queue"),
        (_query_steps("volume_queue"),),
        _list_rds_metrics("DiskQueueDepth"),
    ),
    Panel(
        "Server's CPU, credits left",
        "Credits of gp2 volumes and small instances; absent where there are none.",
        "percent",
        _query_samples("cpu_percent", "burst_balance_percent", "ebs_io_balance_percent"),
        (
            Asked(f"100 * plimsoll_step_cpu_ratio{OF_RUN}", "step {{step}} CPU"),
            _query_steps("balance_ratio", "of", times="100 * "),
        ),
        _list_rds_metrics("CPUUtilization", "BurstBalance", "EBSIOBalance%"),
    ),
    Panel(
        "Steps",
        "One row for each step, stamped with the end of its window.",
        "short",
        _query_rows(
            "plimsoll_step",
            ("clients", "connections", "throughput_ops_per_second", "errors", "client_busy"),
            '"run", "step"',
        ),
        table=True,
    ),
    Panel(
        "Latency of each step, µs",
        "Of the merged histograms of all clients.",
        "short",
        _query_rows(
            "plimsoll_latency",
            ("mean_us", "p50_us", "p95_us", "p99_us", "p999_us", "max_us"),
            '"run", "step", "operation"',
        ),
        table=True,
    ),
)

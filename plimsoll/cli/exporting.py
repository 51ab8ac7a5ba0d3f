"""The options that export measurements: a file for Prometheus, and OTLP."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll import __version__
from plimsoll.errors import PlimsollError, SinkError, UsageError
from plimsoll.files import write_whole
from plimsoll.packaged import explain_install, is_importable

if TYPE_CHECKING:
    from plimsoll.metrics.measures import Measure
    from plimsoll.model.engine.answered import LoadReport
    from plimsoll.model.run.results import RunResult

Command = Callable[..., Any]
STANDARD = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
SDK = "opentelemetry.exporter.otlp.proto.http"


@dataclass(frozen=True)
class Exporting:
    """Where figures go besides the terminal and the results.

    Attributes:
        file: The file for Prometheus; None to write none.
        otlp: A collector's endpoint; None to use the standard variables, or none.
    """

    file: Path | None = None
    otlp: str | None = None

    def tell_runs(self, results: Iterable[RunResult]) -> None:
        """Export what runs measured."""
        if self._is_asked:
            from plimsoll.metrics.measures import list_run_measures

            self._tell([measure for result in results for measure in list_run_measures(result)])

    def tell_load(self, report: LoadReport, workload: str) -> None:
        """Export what a load measured."""
        if self._is_asked:
            from plimsoll.metrics.measures import list_load_measures

            self._tell(list(list_load_measures(report, workload)))

    @property
    def _is_asked(self) -> bool:
        return self != Exporting() or any(map(os.environ.get, STANDARD))

    def _tell(self, measures: Sequence[Measure]) -> None:
        """Write and send metrics; report a failure on standard error."""
        if self.file is not None:
            from plimsoll.metrics.prometheus import format_prometheus

            try:
                write_whole(self.file, format_prometheus(measures))
            except PlimsollError as error:
                click.echo(f"plimsoll: {error}", err=True)
        if self.otlp is not None or any(map(os.environ.get, STANDARD)):
            try:
                _push(measures, self.otlp)
            except SinkError as error:
                click.echo(f"plimsoll: {error}", err=True)


def _push(measures: Sequence[Measure], endpoint: str | None) -> None:
    if not is_importable(SDK):
        raise SinkError(f"metrics were not sent: {' or '.join(STANDARD)} {_describe_need()}")
    from plimsoll.metrics.otlp import push_metrics

    push_metrics(measures, endpoint=endpoint, version=__version__)


def _describe_need() -> str:
    return f"needs OpenTelemetry's SDK: {explain_install('otlp')}"


def _check_endpoint(_: click.Context, __: click.Parameter, url: str | None) -> str | None:
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(f"--otlp {url}: must be http://... or https://...")
    if url is not None and not is_importable(SDK):
        raise UsageError(f"--otlp: {_describe_need()}")
    return url


def _check_file(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.parent.is_dir():
        raise UsageError(f"--metrics-file {path}: there is no folder {path.parent}")
    if path is not None and not os.access(path.parent, os.W_OK):
        raise UsageError(f"--metrics-file {path}: {path.parent} cannot be written")
    return path


def export_options(command: Command) -> Command:
    """Add `--metrics-file` and `--otlp`; the command receives them as `exporting`."""

    @functools.wraps(command)
    def run_with_options(
        *arguments: Any, metrics_file: Path | None, otlp: str | None, **others: Any
    ) -> Any:
        return command(*arguments, exporting=Exporting(metrics_file, otlp), **others)

    run_with_options = click.option(
        "--otlp",
        metavar="URL",
        callback=_check_endpoint,
        help="Send the metrics to an OpenTelemetry collector when the command ends:"
        " http://HOST:4318. Default: OTEL_EXPORTER_OTLP_ENDPOINT, if set (docs/metrics.md).",
    )(run_with_options)
    return click.option(
        "--metrics-file",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_check_file,
        help="Write the metrics in Prometheus format: FILE.prom for the textfile collector of"
        " node_exporter.",
    )(run_with_options)

"""`--otlp` where its extra is not installed: a sentence names it, before anything is loaded."""

import pytest

from plimsoll.cli import exporting
from plimsoll.cli.exporting import Exporting
from plimsoll.cli.main import main
from tests.support.synthetic_run import synthetic_run

EXTRA = "needs OpenTelemetry's SDK: make setup"


@pytest.fixture(autouse=True)
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "is_importable", lambda _: False)
    for name in exporting.STANDARD:
        monkeypatch.delenv(name, raising=False)


def test_the_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    load = ["load", "--dsn", "mysql://u@127.0.0.1/d", "--workload", "ycsb-c"]
    with pytest.raises(SystemExit) as ended:
        main([*load, "--otlp", "http://127.0.0.1:4318"])
    assert ended.value.code == 2
    assert EXTRA in capsys.readouterr().err


def test_the_variable_is_a_line_and_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may have been set for other programs."""
    run, _ = synthetic_run()
    Exporting().tell_runs([run])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    Exporting().tell_runs([run])
    assert EXTRA in capsys.readouterr().err

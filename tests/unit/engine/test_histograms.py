"""Histograms are HdrHistogram V2, compressed, base64: any library's, both ways, merged exactly."""

import json

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

import plimsoll_engine

LOWEST_US, HIGHEST_US, DIGITS = 1, 300_000_000, 3
latencies = st.lists(st.integers(LOWEST_US, HIGHEST_US), min_size=1, max_size=50)


def recorded(values: list[int]) -> HdrHistogram:
    histogram = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)
    for value in values:
        histogram.record_value(value)
    return histogram


def encoded(values: list[int]) -> str:
    return str(recorded(values).encode().decode())


def counts(histogram: HdrHistogram) -> list[int]:
    """How many values each of its buckets holds."""
    return list(histogram.counts)


@settings(max_examples=15)  # the other library is slow
@given(latencies)
def test_what_another_library_writes_is_read(values: list[int]) -> None:
    reference = recorded(values)
    summary = json.loads(plimsoll_engine.histogram_summary(encoded(values)))
    assert summary["p50"] == reference.get_value_at_percentile(50)
    assert summary["p99"] == reference.get_value_at_percentile(99)
    assert summary["p999"] == reference.get_value_at_percentile(99.9)
    assert summary["max"] == reference.get_max_value()
    assert summary["mean"] == pytest.approx(reference.get_mean_value(), rel=1e-3)


@settings(max_examples=15)  # the other library is slow
@given(st.lists(latencies, min_size=1, max_size=4))
def test_what_is_merged_another_library_reads_without_loss(parts: list[list[int]]) -> None:
    merged = plimsoll_engine.merge_histograms([encoded(part) for part in parts])
    read = HdrHistogram.decode(merged)
    assert counts(read) == counts(recorded([value for part in parts for value in part]))


@pytest.mark.parametrize("text", ["", "x", "HISTFAAAAA==", "AAAA", "HISTFAAAAAN4nJNpmSzMwMDA"])
def test_what_is_no_histogram_is_one_clear_line(text: str) -> None:
    with pytest.raises(plimsoll_engine.EngineError) as error:
        plimsoll_engine.histogram_summary(text)
    assert "\n" not in str(error.value)

"""Requests for volumes that only one machine can emulate."""

import json
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.local.resources.template_volumes import read_volume
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from plimsoll.targets.template import (
    CASSANDRA_TEMPLATE,
    RDS_TEMPLATE,
    fill_rds_parameters,
    name_emulated_volume,
    read_template,
)

ESSD = {"cloud": "alibaba", "type": "essd", "level": "PL1", "size_gib": 400}
CACHED = {"type": "io1", "size_gib": 100, "iops": 2_000, "read_cache_mib": 64}


def request(volume: dict[str, Any], **more: Any) -> Request:
    target = {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m5.large",
        "volume": volume,
    }
    search = {"strategy": "steps", "clients": [1]}
    workload = {"name": "ycsb-b", "records": 1_000}
    fields = {"name": "clouds", "target": target, "workload": workload, "search": search, **more}
    return validate(Request, fields)


@pytest.mark.parametrize(
    ("volume", "sentence"),
    [
        (ESSD, "target.volume.cloud: only a local run may have this cloud's volumes"),
        (CACHED, "target.volume.read_cache_mib: only a local run may have this read cache"),
    ],
)
def test_aws_refuses_them_with_one_sentence(volume: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        request(volume).require_nothing_of_one_machine("a local run")
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("volume", [ESSD, CACHED], ids=["essd", "cached"])
def test_the_stand_in_reads_the_volume_from_the_template(volume: dict[str, Any]) -> None:
    target = request(volume).target
    assert target.kind == "rds"
    filled = fill_rds_parameters(target, "11.4.10")
    assert (filled["StorageType"], filled["Iops"]) == ("gp3", "0")
    for name in (RDS_TEMPLATE, CASSANDRA_TEMPLATE):
        body = json.loads(name_emulated_volume(read_template(name), target.volume))
        found = [text for text in _texts(body) if text.startswith("{") and "size_gib" in text]
        assert [read_volume(text, 1, None, None) for text in found] == [target.volume]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in _texts(one)]


def test_an_extension_that_the_volume_lacks_cannot_be_switched() -> None:
    states = [
        {"name": name, "parameters": {"apsaradb.buffer_pool_extension": value}}
        for name, value in (("off", "OFF"), ("on", "ON"))
    ]
    with pytest.raises(UsageError, match="read_cache_mib: is needed"):
        request(ESSD, toggle={"states": states})
    request({**ESSD, "read_cache_mib": 64}, toggle={"states": states})

"""The volume that an existing database stands on, as `--volume` and requests name it."""

import pytest

from plimsoll.errors import OptionError, UsageError
from plimsoll.load_line.request import describe_endpoint, read_volume
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.validation import validate


@pytest.mark.parametrize(
    ("text", "iops"),
    [
        ("type=gp3,size_gib=400,iops=6000", 6_000),
        ("type=essd, level=PL1, size_gib=400", 21_800),
        ("type=premium-essd,size_gib=400,burst=true", 1_000_000),
    ],
)
def test_its_cloud_follows_from_its_type(text: str, iops: float) -> None:
    assert limits(read_volume(text)).baseline_iops == iops


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gp3", "is not FIELD=VALUE"),
        ("type=gp3", "size_gib"),
        ("type=gp9,size_gib=100", "type"),
        (
            "type=gp3,size_gib=" + "9" * 5000,
            "size_gib: input should be a valid integer, not .9{40,100}.\\.\\.\\.",
        ),
        ("type=gp3,size_gib=400,iops=\N{ARABIC-INDIC DIGIT FOUR}", "iops"),
        ("type=gp3,size_gib=400,size_gib=500", "size_gib is given twice"),
    ],
)
def test_what_is_no_volume_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        read_volume(text)


@pytest.mark.parametrize(
    ("dsn", "volume", "sentence"),
    [
        ("mysql://u@h/d", "type=gp2,size_gib=400,iops=10", "volume.iops: 10 is not allowed"),
        ("mysql://u@h/d", "type=gp3,size_gib=999999999", "volume.size_gib: 999,999,999 is not"),
        ("mysql://u@h/a%60b", None, "DSN.database: string should match"),
        (f"mysql://u@{'h' * 300}/d", None, "DSN.host: string should have at most 253"),
    ],
)
def test_a_database_that_no_request_can_describe_is_refused_in_a_line(
    dsn: str, volume: str | None, sentence: str
) -> None:
    with pytest.raises(UsageError) as error:
        describe_endpoint("mysql", parse_dsn(dsn), None if volume is None else read_volume(volume))
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def endpoint(host: str, volume: Volume) -> EndpointTarget:
    fields = {"kind": "endpoint", "engine": "mysql", "host": host, "volume": volume.model_dump()}
    return validate(EndpointTarget, fields)


def test_an_endpoint_on_rds_has_the_rules_of_rds() -> None:
    volume = Volume(type="gp3", size_gib=400)
    on_rds = endpoint("db.x.us-east-1.rds.amazonaws.com", volume)
    assert limits(volume, service=on_rds.service).baseline_iops == 12_000
    assert limits(volume, service=endpoint("db.lan", volume).service).baseline_iops == 3_000


def test_an_endpoint_has_no_emulated_options() -> None:
    with pytest.raises(UsageError, match="an existing database has none"):
        endpoint("db.lan", Volume(type="gp3", size_gib=400, read_cache_mib=10))


def test_an_endpoint_without_a_volume_is_written_as_ever() -> None:
    target = EndpointTarget(kind="endpoint", engine="mysql", host="db.lan")
    assert "volume" not in target.model_dump()

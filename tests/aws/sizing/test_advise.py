"""`plimsoll advise` on an account: what RDS and CloudWatch say of its instances."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from plimsoll.aws import clients
from plimsoll.cli.advise import command
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.judging.steps import TargetSample
from plimsoll.sizing import production_on_rds
from plimsoll.sizing.production_on_rds import make_history, read_instance_history, read_instances

PAGE = 16_384


@pytest.fixture(autouse=True)
def instances(account: None) -> None:
    """A shop on far too many IOPS, and an archive that nobody asks."""
    del account
    make_instance("shop", StorageType="io1", AllocatedStorage=200, Iops=8_000)
    make_instance("archive", StorageType="gp3", AllocatedStorage=100)
    measure("shop", 1_000.0, 30.0)
    measure("archive", 2.0, 1.0)


def make_instance(name: str, **storage: Any) -> None:
    clients.rds().create_db_instance(
        DBInstanceIdentifier=name,
        DBInstanceClass="db.m6i.large",
        Engine="mysql",
        EngineVersion="8.4.3",
        MasterUsername="root",
        MasterUserPassword="secret-123",
        **storage,
    )


def measure(name: str, iops: float, cpu: float, *, minutes: int = 120) -> None:
    end = datetime.now(UTC).replace(second=0, microsecond=0)
    values = {
        "ReadIOPS": iops / 2,
        "WriteIOPS": iops / 2,
        "ReadThroughput": PAGE * iops / 2,
        "WriteThroughput": PAGE * iops / 2,
        "DiskQueueDepth": iops / 1_000,
        "CPUUtilization": cpu,
    }
    for metric, value in values.items():
        clients.cloudwatch().put_metric_data(
            Namespace="AWS/RDS",
            MetricData=[
                {
                    "MetricName": metric,
                    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": name}],
                    "Timestamp": end - timedelta(minutes=minute),
                    "Value": value,
                }
                # some ahead: the command asks a moment later, perhaps in the next minute
                for minute in range(-10, minutes + 1)
            ],
        )


def run_advise(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.output


def test_the_answer_begins_with_a_paragraph_that_can_be_read_out() -> None:
    code, text = run_advise("rds://shop", "--for", "2h")
    assert code == 0
    paragraph = " ".join(text.partition("\n\n")[0].split())
    assert paragraph.startswith(
        "shop: Buy MySQL 8.4.3 on db.m6i.large, gp3 200 GiB for $148 a month, $802 less than today."
        " It carries the load of the 2 h that were observed"
    )
    assert "Not known: how high bursts within 1 min reach" in paragraph
    assert "This would tell: plimsoll advise DSN --for 1h --class db.m6i.large" in paragraph


def test_json_has_every_choice_with_its_price_items() -> None:
    _, text = run_advise("rds://shop", "--for", "2h", "--json")
    answer = json.loads(text)
    assert answer["standing"] == "over-provisioned"
    assert answer["today"]["target"]["volume"]["iops"] == 8_000
    assert answer["choices"][0]["target"]["volume"] == {
        "type": "gp3", "size_gib": 200, "iops": None, "throughput_mib_s": None,
        "credits_start": None,
    }  # fmt: skip
    assert answer["choices"][0]["items"]


def test_an_account_is_told_by_what_a_change_saves() -> None:
    code, text = run_advise("rds:", "--for", "2h")
    assert code == 0
    assert text.startswith("2 instances: 1 idle and 1 over-provisioned")
    assert text.index("shop") < text.index("archive")
    assert max(map(len, text.splitlines())) <= 80


def test_an_instance_that_cannot_be_judged_is_left_out_with_the_reason() -> None:
    make_instance("old", StorageType="standard", AllocatedStorage=100)
    make_instance("new", StorageType="gp3", AllocatedStorage=400)
    _, text = run_advise("rds:", "--for", "2h", "--json")
    left_out = json.loads(text)["left_out"]
    assert "mysql on standard is not judged" in left_out["old"]
    assert "no I/O of the RDS instance new" in left_out["new"]


def test_beyond_fifteen_days_the_largest_minute_of_five_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(production_on_rds, "MINUTES_LONGEST_S", 3_600)  # moto is slow with days
    history = read_instance_history("shop", 2 * 3_600, datetime.now(UTC) + timedelta(minutes=5))
    assert history.period_s == 60
    assert len(history.rates) % 5 == 0
    assert history.rates[:, 0].max() == pytest.approx(1_000)


def test_a_volume_is_told_as_a_request_names_it() -> None:
    [(name, target, notes)] = read_instances(["shop"])
    assert not notes
    assert name == "shop"
    assert not isinstance(target, str)
    assert (target.volume.type, target.volume.iops) == ("io1", 8_000)


def test_prices_are_of_a_single_zone_and_it_is_said() -> None:
    make_instance("safe", StorageType="gp3", AllocatedStorage=100, MultiAZ=True)
    measure("safe", 500.0, 20.0)
    code, text = run_advise("rds://safe", "--for", "2h")
    assert code == 0
    assert "the prices of Multi-AZ" in " ".join(text.split())


def test_an_instance_that_does_not_exist_is_one_line() -> None:
    with pytest.raises(PlimsollError, match=r"RDS: .*DBInstance"):
        run_advise("rds://nothing")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["rds://shop", "--for", "1m"], "--for: from 1h to 63d"),
        (["rds://shop", "--horizon", "2y"], "--horizon: needs --growth"),
        (["rds://shop", "--growth", "none"], "--growth: 'none' is not a growth"),
        (["rds://shop", "--class", "db.m6i.large"], "--class and --volume: are of a server"),
        (["rds://no_such"], "SOURCE: 'no_such' is not an identifier"),
        (["shop"], "SOURCE: the form is rds://INSTANCE"),
        (["cassandra://h/k"], "SOURCE: the form is rds://INSTANCE"),
        (["mysql://u@h/d"], "--class: of a server, name the class"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], named: str) -> None:
    with pytest.raises(UsageError) as refused:
        run_advise(*arguments)
    assert named in str(refused.value)


def test_a_queue_that_is_missing_at_times_is_not_taken_for_empty() -> None:
    measured = TargetSample(
        epoch_ms=0, read_iops=5, write_iops=5, read_mib_s=1, write_mib_s=1, queue=0.5
    )
    without = measured.model_copy(update={"queue": None, "epoch_ms": 60_000})
    assert make_history([(measured, measured)] * 2, 60).queue is not None
    assert make_history([(measured, measured), (without, without)], 60).queue is None


def test_five_minutes_keep_their_mean_and_their_largest() -> None:
    mean = TargetSample(epoch_ms=0, read_iops=10, write_iops=0, read_mib_s=1, write_mib_s=0)
    high = mean.model_copy(update={"read_iops": 30.0})
    history = make_history([(mean, high)], 300)
    assert list(history.rates[:, 0]) == [5, 5, 30, 5, 5]
    assert list(history.begins_s) == [0, 60, 120, 180, 240]

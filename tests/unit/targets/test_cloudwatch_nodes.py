"""The figures of a cluster are those of its nodes together, at the moments that all have."""

from plimsoll.model.judging.steps import TargetSample
from plimsoll.targets.cloudwatch_metrics import combine_nodes


def test_what_nodes_do_is_added_up_and_the_least_balance_counts() -> None:
    one = TargetSample(
        epoch_ms=1000, read_iops=100, write_iops=20, queue=1, cpu_percent=30, read_latency_us=400,
        burst_balance_percent=50, host_idle_percent=20, host_others_percent=42,
    )  # fmt: skip
    other = TargetSample(
        epoch_ms=1000, read_iops=300, write_iops=10, queue=3, cpu_percent=40, read_latency_us=600,
        burst_balance_percent=10, host_idle_percent=20, host_others_percent=32,
    )  # fmt: skip
    late = TargetSample(epoch_ms=2000, read_iops=5)
    (both,) = combine_nodes({"a:9042": [one, late], "b:9042": [other]})
    assert both.epoch_ms == 1000
    assert (both.read_iops, both.write_iops, both.queue) == (400, 30, 4)
    assert both.cpu_percent == 70
    assert both.read_latency_us == 500
    assert both.burst_balance_percent == 10
    assert both.host_idle_percent == 20
    # each counts the other's 30 and 40 % among others; 2 % are none of the cluster's
    assert both.host_others_percent == 2
    assert both.write_mib_s is None


def test_instances_have_processors_of_their_own_and_together_the_mean() -> None:
    samples = [TargetSample(epoch_ms=1, cpu_percent=percent) for percent in (90.0, 50.0)]
    (both,) = combine_nodes({"a:9042": samples[:1], "b:9042": samples[1:]})
    assert both.cpu_percent == 70


def test_what_one_node_lacks_is_not_known_of_all() -> None:
    samples = [TargetSample(epoch_ms=1, read_iops=5), TargetSample(epoch_ms=1)]
    (both,) = combine_nodes({"a:1": samples[:1], "b:1": samples[1:]})
    assert both.read_iops is None


def test_one_node_is_as_it_is() -> None:
    samples = (TargetSample(epoch_ms=1, host_others_percent=5, cpu_percent=80),)
    assert combine_nodes({"a:1": samples}) == samples

"""CloudWatch's metrics of a cluster's nodes, each and all combined."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from statistics import fmean

from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.request.request import TargetKind
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.targets.cloudwatch_metrics import read_samples

NodeSamples = Mapping[str, Sequence[TargetSample]]  # keyed by the node's address and port
# How to combine the nodes' values, if not by their mean.
_TOGETHER: Mapping[str, Callable[[Sequence[float]], float]] = {
    "read_iops": sum,
    "write_iops": sum,
    "read_mib_s": sum,
    "write_mib_s": sum,
    "queue": sum,
    "escaped_iops": sum,
    "escaped_mib_s": sum,
    "host_late_percent": max,
    "burst_balance_percent": min,
    "ebs_io_balance_percent": min,
    "ebs_byte_balance_percent": min,
    "cpu_credits": min,
}


def read_node_samples(
    target: TargetAddress, kind: TargetKind, *, start: datetime, end: datetime, period_s: int
) -> dict[str, tuple[TargetSample, ...]]:
    """Read the metrics of each node of a target; most targets have one node."""
    others = [target.model_copy(update=node.model_dump() | {"nodes": ()}) for node in target.nodes]
    return {
        f"{node.host}:{node.port}": read_samples(
            node, kind, start=start, end=end, period_s=period_s
        )
        for node in (target, *others)
    }


def combine_nodes(by_node: NodeSamples) -> tuple[TargetSample, ...]:
    """Combine the nodes' samples, at the moments at which all nodes have one."""
    nodes = list(by_node.values())
    if len(nodes) == 1:
        return tuple(nodes[0])
    moments = set.intersection(*({one.epoch_ms for one in samples} for samples in nodes))
    at = {ms: [one for samples in nodes for one in samples if one.epoch_ms == ms] for ms in moments}
    return tuple(_combine_samples(at[ms]) for ms in sorted(at))


def _combine_samples(samples: Sequence[TargetSample]) -> TargetSample:
    fields = [name for name in TargetSample.model_fields if name != "epoch_ms"]
    known = {name: [getattr(sample, name) for sample in samples] for name in fields}
    whole = {name: values for name, values in known.items() if None not in values}
    made = {name: float(_TOGETHER.get(name, fmean)(values)) for name, values in whole.items()}
    if "host_others_percent" in made and "cpu_percent" in made:
        # On one machine each node has a share of all processors, and the other nodes' use counts as
        # that of others: correct both.
        of_one = made["cpu_percent"]
        of_other_nodes = of_one * (len(samples) - 1)
        made["cpu_percent"] = of_one * len(samples)
        made["host_others_percent"] = max(0.0, made["host_others_percent"] - of_other_nodes)
    return TargetSample(epoch_ms=samples[0].epoch_ms, **made)

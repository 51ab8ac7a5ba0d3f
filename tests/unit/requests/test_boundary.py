"""A search for the boundary is refused before anything is made, naming the field."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.request.request import Request
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.requests.cells import validate_experiment
from plimsoll.sizing.cheapest import require_searchable
from tests.support.synthetic_cells import LIMITS_US, boundary_experiment


def asked(prices: PriceTable | None = None, **changes: Any) -> tuple[Request, ...]:
    checked = validate_experiment({**boundary_experiment(1000, 2000, want=20_000), **changes})
    require_searchable(checked, prices or read_builtin_prices())
    return tuple(cell.request for cell in checked.cells)


def refused(**changes: Any) -> str:
    with pytest.raises(UsageError) as caught:
        asked(**changes)
    return str(caught.value).splitlines()[0]


def shared(**changes: Any) -> dict[str, Any]:
    return {**boundary_experiment(1000, want=1)["request"], **changes}


def test_what_can_be_predicted_and_priced_passes() -> None:
    assert [request.limits.limits_us for request in asked()] == [LIMITS_US] * 2


def test_the_limits_of_what_is_wanted_are_those_of_every_run() -> None:
    given = {"read": 1000, "update": 2000}
    requests = asked(want={"ops_per_second": 5, "limits_us": given})
    assert [request.limits.limits_us for request in requests] == [given] * 2


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"want": None}, "want: search: boundary and want: {ops_per_second: ...} need each other"),
        ({"search": "matrix"}, "search: search: boundary and want"),
        ({"want": {"ops_per_second": 0}}, "want.ops_per_second: input should be greater than 0"),
        ({"want": {"ops_per_second": 1, "headroom": 1}}, "want.headroom: input should be less th"),
        ({"want": {"ops_per_second": 1, "limits_us": {"scan": 5}}},
         "request.limits.limits_us.scan: unknown operation 'scan'"),
        ({"pairs": {"axis": "volume", "of": ["io1-1000", "io1-2000"]}},
         "pairs: cannot go with search: boundary, since runs of a pair go at once"),
        ({"dataset": {}}, "dataset: cannot go with search: boundary, since datasets are prepared"),
        ({"at_once": 2}, "at_once: cannot go with search: boundary, since what is run next"),
        ({"batch_size": 2}, "batch_size: cannot go with search: boundary, since what is run next"),
        ({"axes": {"mix": {"a": {"workload": {"name": "ycsb-b"}}, "b": {}}}},
         "axes.mix.a.workload.name: search: boundary cannot predict along it"),
        ({"axes": {"v": {"a": {"target": {"volume": {"iops": 1000, "credits_start": "empty"}}}}}},
         "axes.v.a.target.volume.credits_start: search: boundary cannot predict along it"),
        ({"axes": {"v": {"a": {"target": {"instance_class": "db.x9.large",
                                          "volume": {"iops": 1000}}}}}},
         "axes.v.a.target.instance_class: has limits that are not known here"),
    ],
)  # fmt: skip
def test_what_cannot_be_sought_is_refused_by_its_field(
    changes: dict[str, Any], complaint: str
) -> None:
    assert refused(**changes).startswith(complaint)


def test_every_operation_needs_a_limit() -> None:
    limits = {"limits_us": {"read": 5000}}
    assert refused(request=shared(limits=limits)).startswith(
        "request.limits.limits_us.update: is missing: search: boundary needs a latency limit"
    )


def test_nothing_is_predicted_of_an_endpoint() -> None:
    target = {"kind": "endpoint", "host": "db.example", "engine": "mariadb"}
    assert refused(request=shared(target=target)).startswith(
        "request.target.kind: has an unknown volume or class"
    )


def test_a_toggle_has_two_answers() -> None:
    states = [
        {"name": name, "parameters": {"innodb_flush_neighbors": value}}
        for name, value in (("off", 0), ("on", 1))
    ]
    assert refused(request=shared(toggle={"states": states})) == (
        "request.toggle: cannot go with search: boundary, since it has two answers"
    )


def test_cells_are_ordered_by_prices_that_have_to_be_known() -> None:
    lacking = read_builtin_prices().model_copy(
        update={
            "groups": tuple(g for g in read_builtin_prices().groups if "rds-storage" not in g.items)
        }
    )
    assert refused(prices=lacking).endswith(
        "target: cannot be ordered by price: no price is known for io1 storage, 100 GiB"
    )

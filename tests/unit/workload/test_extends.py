"""A workload that changes a built-in one: what it has replaces what is there, name by name."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import WorkloadError
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import hash_workload
from plimsoll.workload import Workload, library, load_workload, parse_workload
from tests.support.requested import REQUESTED

CHANGED: dict[str, Any] = {"about": "another mix", "extends": "tpcc"}


def extend(**changed: Any) -> Workload:
    return parse_workload(yaml.safe_dump({**CHANGED, **changed}), source="mine.yaml")


def test_what_it_does_not_have_is_as_it_was() -> None:
    base, changed = load_workload("tpcc"), extend(operations={"payment": {"weight": 30}})
    assert (changed.name, changed.about, changed.dataset) == ("mine", "another mix", base.dataset)
    weights = {one.name: one.weight for one in changed.compile().engine.operations}
    assert weights == {one.name: one.weight for one in base.compile().engine.operations} | {
        "payment": 30
    }
    assert changed.compile().conditions == base.compile().conditions
    assert "extends" not in changed.document.value, "it is whole, as a search keeps it"


def test_a_null_leaves_a_part_out() -> None:
    changed = extend(operations={"delivery": None}, conditions={"c11": None})
    assert changed.operation_names == ["new_order", "payment", "order_status", "stock_level"]
    assert "c11" not in changed.compile().conditions


def test_a_variable_is_replaced_as_a_whole_and_at_its_place() -> None:
    """Those of `let` after it use it."""
    changed = extend(operations={"payment": {"let": {"w_id": {"integer": [1, 1]}}}})
    (payment,) = (one for one in changed.compile().engine.operations if one.name == "payment")
    assert payment.let[0].name == "w_id"
    assert payment.let[0].value.model_dump(exclude_defaults=True) == {"low": 1, "high": 1}


def test_statements_are_replaced_together() -> None:
    statement = {"sql": "SELECT d_next_o_id FROM {district} WHERE d_w_id = ?", "binds": ["w_id"]}
    level = {"statements": [statement], "let": {"d_id": None}}
    changed = extend(operations={"stock_level": level})
    (operation,) = (x for x in changed.compile().engine.operations if x.name == "stock_level")
    assert [one.sql for one in operation.statements] == [
        ("SELECT d_next_o_id FROM `district` WHERE d_w_id = ?",)
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("about: a\nextends: tpc\n", "mine.yaml:2: extends: unknown workload 'tpc'"),
        ("about: a\nextends: [tpcc]\n", "mine.yaml:2: extends: unknown workload"),
        (
            "about: a\noperations:\n  payment: {wait: 1}\nextends: tpcc\n",
            "mine.yaml:3: operations.payment.wait: unknown field",
        ),
        # what is inherited has the line that names where it is from
        (
            "about: a\nextends: tpcc\noperations: {payment: {let: {d_id: null}}}\n",
            "mine.yaml:2: operations.payment.let.c_d_id.else: unknown variable 'd_id'",
        ),
    ],
)
def test_an_error_names_a_line_of_the_file_itself(text: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        parse_workload(text, source="mine.yaml")
    assert problem in str(error.value)


def test_the_procedures_of_tpcc_have_its_rows_mix_and_conditions() -> None:
    for protocol in ("mysql", "postgres"):
        statements = load_workload("tpcc").compile(2, {}, protocol)
        procedures = load_workload("tpcc-procedures").compile(2, {}, protocol)
        assert procedures.tables == statements.tables, "the tables, with those that lose rows"
        assert procedures.conditions == statements.conditions
        assert procedures.engine.mix == "deck"
        assert [
            (one.name, one.weight, len(one.statements)) for one in procedures.engine.operations
        ] == [(one.name, one.weight, 1) for one in statements.engine.operations]


def test_the_hash_of_a_run_covers_what_is_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = {**CHANGED, "operations": {"payment": {"weight": 30}}}
    asked = {**REQUESTED, "workload": {"definition": definition, "records": 1}}
    request = Request.model_validate(asked)
    before, read = hash_workload(request), library._read_text
    assert hash_workload(request) == before
    monkeypatch.setattr(library, "_read_text", lambda *named: read(*named) + "# changed")
    assert hash_workload(request) != before

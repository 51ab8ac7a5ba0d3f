"""Stored procedures on real servers: made by prepare, called by a load, dropped with the rows."""

from dataclasses import replace

import pytest

from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Compiled, parse_workload
from tests.local.load.test_logic import read, send

WORKLOAD = """
about: a procedure that pays, and says what is left
default_records: 10
tables:
  account:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      balance: {type: int, value: 1000}
      seen: {type: int, value: -1}
procedures:
  pay:
    sql: |
      CREATE PROCEDURE pay(IN which INT, IN amount INT) BEGIN
        UPDATE account SET balance = balance - amount WHERE id = which;
        SELECT balance, 'left' FROM account WHERE id = which;
        SELECT id FROM account;
      END
    postgres: |
      CREATE PROCEDURE pay(which INT, amount INT, INOUT remaining INT, INOUT word TEXT)
      LANGUAGE plpgsql AS $$ BEGIN
        UPDATE account SET balance = balance - amount WHERE id = which
        RETURNING balance, 'left' INTO remaining, word;
      END $$
operations:
  pay:
    weight: 1
    transaction: true
    let: {which: {key: account}}
    statements:
      - sql: CALL pay(?, 3)
        postgres: CALL pay(?, 3, NULL, NULL)
        binds: [which]
        returns: {remaining: int, word: text}
      - if: word = 'left'
        statements:
          - sql: UPDATE {account} SET seen = ? WHERE id = ?
            binds: [remaining, which]
            rows: 1
"""


def compiled(target: EngineTarget) -> Compiled:
    return parse_workload(WORKLOAD).compile(None, {}, target.protocol)


def test_what_a_procedure_returns_is_kept_and_all_its_results_are_read(
    target: EngineTarget,
) -> None:
    workload = compiled(target)
    prepare_dataset(target, workload, connections=1)
    report = send(target, workload, 100, connections=2)
    assert report.operations["pay"].errors == {}
    assert report.operations["pay"].succeeded == 100
    assert read(target, "SELECT SUM(1000 - balance) FROM account") == 300
    assert read(target, "SELECT COUNT(*) FROM account WHERE seen NOT IN (balance, -1)") == 0
    assert read(target, "SELECT COUNT(*) FROM account WHERE seen > 0") > 0
    with find_family(target.protocol).open_datasets(target) as datasets:
        datasets.drop(workload)
        assert not datasets._procedure_exists("pay")  # type: ignore[attr-defined]


def test_any_workload_of_the_dataset_drops_them_and_none_of_somebody_elses(
    target: EngineTarget,
) -> None:
    workload = compiled(target)
    without = replace(workload, procedures={})
    with find_family(target.protocol).open_datasets(target) as datasets:

        def has(procedure: str) -> bool:
            return datasets._procedure_exists(procedure)  # type: ignore[attr-defined, no-any-return]

        prepare_dataset(target, workload, connections=1)
        assert has("pay")
        prepare_dataset(target, workload, connections=1)  # it knows them again
        datasets.drop(without)
        assert not has("pay")
        prepare_dataset(target, without, connections=1)
        creation = workload.procedures["pay"]
        datasets._execute(creation)  # type: ignore[attr-defined]
        with pytest.raises(PlimsollError, match="a procedure pay is there, and Plimsoll did not"):
            prepare_dataset(target, workload, connections=1)
        datasets.drop(workload)
        assert has("pay")


def test_what_a_procedure_rolls_back_is_counted_without_a_transaction_around_it(
    target: EngineTarget,
) -> None:
    text = WORKLOAD.replace("transaction: true", "transaction: false")
    workload = parse_workload(f"{text[: text.rindex('statements:')]}statements: [rollback: true]")
    compiled = workload.compile(None, {}, target.protocol)
    prepare_dataset(target, compiled, connections=1)
    report = send(target, compiled, 20, connections=2)
    assert report.operations["pay"].rolled_back == 20
    assert report.operations["pay"].errors == {}
    assert read(target, "SELECT SUM(1000 - balance) FROM account") == 60, "its own: one statement"


def test_a_procedure_that_plimsoll_did_not_make_is_never_touched(target: EngineTarget) -> None:
    workload = compiled(target)
    with find_family(target.protocol).open_datasets(target) as datasets:
        theirs = {"mysql": "BEGIN END", "postgres": "LANGUAGE sql AS ''"}[target.protocol]
        datasets._execute(f"CREATE PROCEDURE pay() {theirs}")  # type: ignore[attr-defined]
    with pytest.raises(PlimsollError, match="a procedure pay is there, and Plimsoll did not make"):
        prepare_dataset(target, workload, connections=1)
    with find_family(target.protocol).open_datasets(target) as datasets:
        assert not datasets._table_exists("account")  # type: ignore[attr-defined]

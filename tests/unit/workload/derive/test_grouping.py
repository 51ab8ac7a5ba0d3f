"""Which transactions a workload has: those that were seen, and no others."""

from plimsoll.model.run.statements_seen import TransactionSeen
from plimsoll.workload.derive.grouping import VARIANTS_MOST, Part, group_transactions


def kind(calls: int, *statements: tuple[int, int]) -> TransactionSeen:
    return TransactionSeen(calls=calls, statements=statements)


def test_kinds_come_by_their_number() -> None:
    rare, usual = kind(10, (0, 1), (1, 2)), kind(90, (2, 1))
    found = group_transactions([rare, usual], {0: 0, 1: 1, 2: 2})
    assert [(one.calls, one.parts) for one in found] == [
        (90, (Part(2, 1),)),
        (10, (Part(0, 1), Part(1, 2))),
    ]
    assert found[1].sent == {0: 10, 1: 20}


def test_digests_that_became_one_statement_are_repetitions_of_it() -> None:
    (found,) = group_transactions([kind(5, (0, 1), (1, 2))], {0: 7, 1: 7})
    assert found.parts == (Part(7, 3),)


def test_what_is_not_sent_is_left_away_and_nothing_is_no_transaction() -> None:
    (found,) = group_transactions([kind(5, (0, 1), (9, 1)), kind(7, (9, 1))], {0: 0})
    assert (found.calls, found.parts) == (5, (Part(0, 1),))


def test_many_variants_of_one_kind_are_one_with_means() -> None:
    variants = [kind(10, (0, 1), (1, times)) for times in range(1, VARIANTS_MOST + 2)]
    (found,) = group_transactions(variants, {0: 0, 1: 1})
    assert found.calls == 10 * len(variants)
    assert found.parts == (Part(0, 1), Part(1, 3))
    assert found.sent[1] == 10 * sum(range(1, VARIANTS_MOST + 2))

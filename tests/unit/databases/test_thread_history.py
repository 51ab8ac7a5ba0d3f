"""Transactions in a history of threads."""

from plimsoll.databases.counted_statements import HistoryEvent
from plimsoll.databases.thread_history import WHOLE_LEAST, SeenInHistory, find_transactions

KNOWN = {"a", "b", "c"}
ENDS = {"B": "begin", "C": "commit", "R": "rollback"}


def thread(text: str, number: int = 1, *, first: int = 1) -> tuple[HistoryEvent, ...]:
    """A thread's statements, a letter each: B begins, C commits, R rolls back."""
    return tuple(
        HistoryEvent(number, at, ENDS.get(one, ""), () if one in ENDS else (one,))
        for at, one in enumerate(text, start=first)
    )


def found(*texts: str) -> SeenInHistory:
    return find_transactions([thread(text, n) for n, text in enumerate(texts)], KNOWN)


def test_statements_between_begin_and_commit_are_together_and_others_apart() -> None:
    seen = found("aBabbCa")
    assert list(seen.kinds) == [(("a", 1), ("b", 2))]
    assert (seen.within["a"], seen.apart["a"]) == (1, 2)
    assert seen.share_within("b") == 1.0


def test_what_is_not_whole_tells_no_transaction_but_what_is_within() -> None:
    seen = found("abC", "Bab", "BaR")
    assert not seen.kinds
    assert (seen.within["a"], seen.apart["a"]) == (3, 0)


def test_commits_without_a_begin_end_transactions_where_autocommit_is_off() -> None:
    seen = found("aCbcCbcC")
    assert dict.fromkeys(seen.kinds, seen.whole) == {(("b", 1), ("c", 1)): 2}
    assert not seen.apart


def test_long_transactions_weigh_more_for_they_are_seldom_whole() -> None:
    long, short = (("a", 4),), (("b", 1),)
    seen = found("BaaaaCabab", "BbCaaaaaaa")
    assert seen.kinds[long] == 1 / 5
    assert seen.kinds[short] == 1 / 8


def test_a_transaction_in_two_readings_counts_once() -> None:
    first = thread("BaC")
    seen = find_transactions([first, (*first, *thread("BbC", first=4))], KNOWN)
    assert seen.whole == 2


def test_commits_are_shared_by_weight_and_a_few_tell_nothing() -> None:
    few = found("BaCBbC")
    assert few.count({"a": 1, "b": 1}, 100) == {}
    many = found(*["BaCBbC"] * WHOLE_LEAST)
    assert many.count({"a": 1, "b": 1}, 100) == {(("a", 1),): 50, (("b", 1),): 50}


def test_transactions_longer_than_the_history_leave_their_commits_to_nobody() -> None:
    # half of the COMMITs end transactions that no history of ten statements has whole
    windows = ["BaCabababa", "bbbbbbbbbC"] * WHOLE_LEAST
    assert found(*windows).count({"a": 1, "b": 1}, 100)[("a", 1),] == 62
    assert found(*windows[::2]).count({"a": 1}, 100) == {(("a", 1),): 100}

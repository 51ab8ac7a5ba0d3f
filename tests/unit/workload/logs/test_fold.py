"""What sessions sent together, and about which row."""

from plimsoll.workload.logs.fold import Event, Fold

READ, WRITE, OTHER = (
    "SELECT a FROM t WHERE id = {}",
    "UPDATE t SET a = a + 1 WHERE id = {}",
    "SELECT b FROM u WHERE id = {}",
)


def fold(transactions: int, *, other: int = 0) -> Fold:
    """Fold transactions that read a row and change it, and read one of another table."""
    found = Fold("sql")
    for number in range(transactions):
        texts = (READ.format(number), WRITE.format(number + other), OTHER.format(7 * number + 1))
        for text in ("BEGIN", *texts, "COMMIT"):
            found.add(Event(text, session="1"))
    return found


def test_statements_about_the_same_row_are_told_in_pairs() -> None:
    found = fold(50)
    digests, places = found.digests(None)
    ((one, other),) = found.same_keys(places)
    assert digests[one].text == READ.format("?")
    assert digests[other].text == "UPDATE t SET a = a + ? WHERE id = ?"


def test_other_rows_and_few_transactions_are_no_pair() -> None:
    for found in (fold(50, other=1), fold(10)):
        assert found.same_keys(found.digests(None)[1]) == ()

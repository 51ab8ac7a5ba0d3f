"""What is said of the words of a language: which of them a statement may use, and where."""

from dataclasses import dataclass

_STRUCTURE = {"SELECT", "FROM", "ON", "FOR", "AS", "WITH", "USING", "INDEX", "COLLATE"}


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, in capitals.

    Attributes:
        kinds: Words that a statement begins with.
        words: Words that lead to no table, wherever they stand.
        modifiers: The same, and no parenthesis follows: with one, it would be a call of a function.
        functions: Functions of the server's own that read nothing but their parameters.
        reserved: Words that are names in quotes only.
        ends_tables: Words that end a list of tables.
        joins: Words that another table follows; where there are none, a statement reads one table,
            and under no other name.
        folds: Whether a name without quotes means the one in small letters.
        upsert: What follows ON where an INSERT says what becomes of a row that is there; empty: it
            cannot.
        after_insert: Words between INSERT and INTO.
        after_table: The only words that may follow a table in a list; None: as the server has it.
        recursion: Whether WITH may be RECURSIVE: where nothing bounds it, it may be endless.
        types: What CAST makes; empty: as the server has it.
    """

    kinds: frozenset[str]
    words: frozenset[str]
    modifiers: frozenset[str]
    functions: frozenset[str]
    reserved: frozenset[str]
    ends_tables: frozenset[str]
    joins: frozenset[str]
    folds: bool
    upsert: str = ""
    after_insert: frozenset[str] = frozenset()
    after_table: frozenset[str] | None = None
    recursion: bool = True
    types: frozenset[str] = frozenset()

    @property
    def structure(self) -> frozenset[str]:
        """Words that say what follows them."""
        return self.ends_tables | self.joins | _STRUCTURE


def words_set(words: str) -> frozenset[str]:
    """Read words between which is space."""
    return frozenset(words.split())

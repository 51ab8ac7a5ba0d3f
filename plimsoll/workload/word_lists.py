"""The vocabulary of a language: which words a statement may use, and where."""

from dataclasses import dataclass

_STRUCTURE = {"SELECT", "FROM", "ON", "FOR", "AS", "WITH", "USING", "INDEX", "COLLATE"}


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, in capitals.

    Attributes:
        kinds: The words that may begin a statement.
        words: The words that never lead to a table.
        modifiers: Words like `words` that must not precede a parenthesis, which would make a call.
        functions: The built-in functions that read nothing but their arguments.
        reserved: The words that are names only when quoted.
        ends_tables: The words that end a list of tables.
        joins: The words that another table follows. If empty, a statement reads a single table,
            without an alias.
        folds: Whether unquoted names are read in lower case.
        upsert: The word after ON in an INSERT that handles existing rows; empty if there is none.
        after_insert: The words allowed between INSERT and INTO.
        after_table: The only words that may follow a table in a list; None if any may.
        recursion: Whether WITH may be RECURSIVE. Without a server limit it might never end.
        types: The types that CAST may have; empty if any may.
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
        """The words that determine what follows them."""
        return self.ends_tables | self.joins | _STRUCTURE


def split_words(words: str) -> frozenset[str]:
    """Split words at white space."""
    return frozenset(words.split())

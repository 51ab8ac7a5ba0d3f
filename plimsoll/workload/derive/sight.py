"""A statement's parts with the tables, aliases and columns that they name."""

from collections.abc import Mapping

from plimsoll.model.databases import Language
from plimsoll.model.run.statements_seen import TableSeen
from plimsoll.workload.derive.parts import Part
from plimsoll.workload.vocabulary import find_vocabulary

BEFORE_TABLES = {"FROM", "JOIN", "STRAIGHT_JOIN", "INTO", "UPDATE"}
ARITHMETIC = ("+", "-", "*", "/", "%")
_ENDS_TABLES = {
    *("SELECT", "WHERE", "HAVING", "SET", "GROUP", "ORDER", "LIMIT", "OFFSET", "VALUES", "VALUE"),
    *("RETURNING", "FOR", "LOCK"),
}
_NO_ALIAS = {"FORCE", "USE", "IGNORE", "PARTITION"}
_END = Part("mark", "")

Column = tuple[str, str, str]  # table, column, alias


class Sight:
    """Gives access to a statement's parts and what they name.

    Attributes:
        tables: The tables that the statement names, in order.
    """

    def __init__(
        self,
        parts: tuple[Part, ...],
        language: Language,
        tables: Mapping[str, TableSeen],
        database: str,
    ) -> None:
        """Find all tables first: columns of the SELECT list come before their table."""
        self.parts, self.vocabulary, self.language = parts, find_vocabulary(language), language
        self.tables: list[str] = []
        self._seen = tables
        self._known = {name.lower(): name for name in tables}
        self._database = database.lower()
        self._by_alias: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}  # columns by table and lower-case name
        self._find_tables()

    def at(self, at: int) -> Part:
        """Return the part at a position; an empty one beyond the ends."""
        return self.parts[at] if 0 <= at < len(self.parts) else _END

    def table(self, at: int) -> str | None:
        """Return the table named at a position; None if there is none."""
        part = self.at(at)
        return self._known.get(part.text.lower()) if part.is_name else None

    def behind_database(self, at: int) -> int:
        """Return the position after the database's name if a table follows, else the same one."""
        named = self.at(at).is_name and self.at(at).text.lower() == self._database
        passed = named and self.at(at + 1).is_mark(".") and self.table(at + 2) is not None
        return at + 2 if passed else at

    def is_free(self, word: str) -> bool:
        """Whether an unquoted word is a name in every place."""
        known = self.vocabulary
        taken = known.structure | known.words | known.modifiers | known.reserved | _NO_ALIAS
        return word.upper() not in taken

    def is_name_here(self, at: int) -> bool:
        """Whether a keyword can only be a name in this place."""
        return self.is_free(self.at(at).text) or self.at(at - 1).is_mark(".")

    def is_mention(self, name: str) -> bool:
        """Whether a name before a dot is an alias or a table of the statement."""
        return name.lower() in self._by_alias

    def columns_of_first(self) -> list[str]:
        """Return the columns of the first table, in order."""
        return [column.name for column in self._seen[self.tables[0]].columns] if self.tables else []

    def column(self, name: str, qualifier: str = "") -> Column | None:
        """Find a column by name; None if no table of the statement has it."""
        for alias, table in self._by_alias.items():
            found = self._columns[table].get(name.lower())
            if found is not None and (not qualifier or alias == qualifier.lower()):
                return table, found, alias
        return None

    def column_before(self, at: int) -> Column | None:
        """Find the column that ends right before a position; None for any other expression."""
        name = self.at(at - 1)
        if not name.is_name:
            return None
        qualifier, first = "", at - 1
        if self.at(at - 2).is_mark(".") and self.at(at - 3).is_name:
            qualifier, first = self.at(at - 3).text, at - 3
        if self.at(first - 1).is_mark(*ARITHMETIC):
            return None
        return self.column(name.text, qualifier)

    def is_arrow(self, at: int) -> bool:
        """Whether a JSON document's operator, -> or ->>, ends at a position."""
        first = at - 1 if self.at(at - 1).is_mark(">") else at
        return self.at(at).is_mark(">") and self.at(first).glued and self.at(first - 1).is_mark("-")

    def call_before(self, at: int) -> tuple[str, int] | None:
        """Return the function whose parentheses end right before a position, and their beginning.

        None if no function's do.
        """
        if not self.at(at - 1).is_mark(")"):
            return None
        depth, first = 1, at - 1
        while depth and first > 0:
            first -= 1
            depth += self.at(first).is_mark(")") - self.at(first).is_mark("(")
        name = self.at(first - 1).text.upper()
        return (name, first) if name in self.vocabulary.functions else None

    def names_within(self, at: int) -> list[str]:
        """Return the names up to the next closing parenthesis."""
        names, at = [], at + 1
        while at < len(self.parts) and not self.at(at).is_mark(")"):
            if self.at(at).is_name:
                names.append(self.at(at).text)
            at += 1
        return names

    def _find_tables(self) -> None:
        # whether a comma is followed by a table: here, and in enclosing levels
        among, around = False, []
        for at, part in enumerate(self.parts):
            before = self.at(at - 1)
            if part.is_mark("("):
                around.append(among)
                among = among and self.at(at + 1).word != "SELECT"
                if among and (before.is_mark(",") or before.word in BEFORE_TABLES):
                    self._mention(at + 1)
            elif part.is_mark(")"):
                among = around.pop() if around else False
            elif part.word in BEFORE_TABLES and before.word not in {"KEY", "DO", "FOR"}:
                among = part.word != "INTO"
                self._mention(at + 1)
            elif part.word in _ENDS_TABLES and not before.is_mark("."):
                among = False
            elif part.is_mark(",") and among:
                self._mention(at + 1)

    def _mention(self, at: int) -> None:
        at = self.behind_database(at)
        table = self.table(at)
        if table is None:
            return
        if table not in self._columns:
            self.tables.append(table)
            self._columns[table] = {c.name.lower(): c.name for c in self._seen[table].columns}
        other = self.at(at + 1 + (self.at(at + 1).word == "AS"))
        free = other.kind == "name" or (other.kind == "word" and self.is_free(other.text))
        self._by_alias.setdefault((other.text if free else table).lower(), table)

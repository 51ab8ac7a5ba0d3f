"""Checks that a statement only reads and writes rows of its workload's tables.

Tables, functions, words and kinds of statements are allowed by list. Servers look for a table in
few places: after FROM, JOIN, INTO and UPDATE, and after a comma among tables. The reader below
follows exactly these through subqueries and joins, leaves the rest of the grammar to the server,
and refuses what it does not know. docs/decisions/0060 says why this parser is our own.

It protects an endpoint whose user has more rights than it should from mistakes and malice. On
targets that Plimsoll creates, the load's user has no further rights either
(`plimsoll.databases.load_user`).
"""

from dataclasses import dataclass

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.workload.cursor import END, Cursor, read_unquoted_word, show_token
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.names import Names
from plimsoll.workload.tokens import Token, tokenize
from plimsoll.workload.vocabulary import find_vocabulary

DEPTH_MOST = 40  # nested parentheses
# Words after ON of an INSERT in another language
_UPSERTS_OF_OTHERS = {
    "CONFLICT": "which is PostgreSQL's: write such a statement under `postgres`",
    "DUPLICATE": "which is MySQL's: write such a statement under `sql`",
}
# functions whose FROM is not followed by a table
_WITH_FROM = {"EXTRACT", "TRIM", "SUBSTRING", "SUBSTR"}


@dataclass
class _Level:
    """The reader's state between a pair of parentheses.

    Attributes:
        tables: Whether a comma is followed by a table.
        selected: Whether a FROM belongs to a SELECT.
        call: The function whose arguments these are; empty if they belong to none.
    """

    tables: bool = False
    selected: bool = False
    call: str = ""


def read_statement(text: str, names: Names) -> tuple[Token, ...]:
    """Check a statement whose table names are filled in, and return its tokens.

    Raises:
        WorkloadError: It does something other than read or write rows of the workload's tables,
            or it is not clear what it does.
    """
    tokens = tokenize(text, names.language)
    _Reader(tokens, names).statement()
    return tokens


def _reach_error(what: str) -> WorkloadError:
    return build_workload_error(f"reaches beyond the workload's tables: {what}")


class _Reader(Cursor):
    """Reads a statement once, from left to right."""

    def __init__(self, tokens: tuple[Token, ...], names: Names) -> None:
        super().__init__(tokens)
        self._depth = 0
        self._vocabulary = find_vocabulary(names.language)
        self._names = names
        self._tables = set(names.tables)  # the workload's, and those that WITH defines
        self._made: set[str] = set()  # names that the statement defines, for tables and columns
        self._used: list[tuple[str | None, str]] = []  # qualifier, column

    def statement(self) -> None:
        """Read the whole statement."""
        of_union = self.peek().is_mark("(")  # (SELECT ...) UNION (SELECT ...)
        first = "SELECT" if of_union else read_unquoted_word(self.next())
        if first == "CALL":
            self._call()
            return
        if first not in self._vocabulary.kinds:
            kinds = ", ".join(sorted(self._vocabulary.kinds))
            raise build_workload_error(
                f"begins with {first or 'no word'}, which is none of {kinds}"
            )
        match first:
            case "WITH":
                self._read_with()
            case "INSERT" | "REPLACE":
                self.skip(*self._vocabulary.after_insert)
                self.require("INTO")
                self._table(self.next())
                self._read(_Level())
            case "UPDATE" if self._vocabulary.after_table is not None:
                self._factor("SET")
                self.require("SET")
                self._read(_Level())
            case "UPDATE":
                self.skip("LOW_PRIORITY", "IGNORE")
                self._factor()
                self._read(_Level(tables=True))
            case "DELETE" if self._vocabulary.joins:
                self.skip("LOW_PRIORITY", "QUICK", "IGNORE")
                self.require("FROM")
                self._table(self.next())
                if self.peek() is not END:
                    self.require("WHERE", "ORDER", "LIMIT", "RETURNING")
                self._read(_Level())
            case _:
                self._read(_Level(selected=True))
        if self.peek() is not END:
            raise build_workload_error("has a ) too many")
        self._require_known()

    def _call(self) -> None:
        """Read a call of one of the workload's procedures; its arguments are values alone."""
        if self._names.language == "cql":
            raise build_workload_error("begins with CALL, and Cassandra has no procedures")
        token = self.next()
        if token.kind not in {"word", "name"} or token.text.lower() not in self._names.procedures:
            raise build_workload_error(
                f"calls {show_token(token)}, which is none of the workload's procedures"
            )
        self.expect("(")
        while not self.peek().is_mark(")"):
            value = self.next()
            known = value.kind in {"number", "text"} or read_unquoted_word(value) == "NULL"
            if not (known or value.is_mark("?")):
                raise build_workload_error(
                    f"has {show_token(value)} where ?, a number, a text or NULL is allowed"
                )
            if not self.peek().is_mark(")"):
                self.expect(",")
        self.expect(")")
        if self.peek() is not END:
            raise build_workload_error(f"has {show_token(self.peek())} after its call")

    def _read_with(self) -> None:
        recursive = self._vocabulary.recursion and self.skip("RECURSIVE")
        while True:
            name = self._read_own_name(folded=True)
            if recursive:
                self._tables.add(name)
            if self.peek().is_mark("("):
                self._list_of_names()
            self.require("AS")
            self.expect("(")
            self._read_parentheses(_Level())
            self._tables.add(name)
            self._made.add(name.lower())
            if not self.peek().is_mark(","):
                break
            self.next()
        self.require("SELECT")
        self._read(_Level(selected=True))

    def _read(self, level: _Level) -> None:
        """Read up to the end, or to the closing parenthesis."""
        while (token := self.peek()) is not END and not token.is_mark(")"):
            self.next()
            word = read_unquoted_word(token)
            if token.is_mark("("):
                self._read_parentheses(_Level())
            elif token.is_mark(",") and level.tables:
                self._factor()
            elif token.is_mark("."):
                raise build_workload_error("has a . that belongs to no name")
            elif word in self._vocabulary.structure:
                self._clause(word, level)
            elif word:
                self._operand(token, word)
            elif token.kind == "name":
                self._name(token)
            # Some settings of sql_mode make a quoted text a name.
            elif token.kind == "text" and self.peek().is_mark("("):
                raise build_workload_error(f"calls {show_token(token)}, which is text")

    def _clause(self, word: str, level: _Level) -> None:
        """Read a keyword that decides whether tables follow."""
        known = self._vocabulary
        if word == "SELECT":
            level.selected, level.tables = True, False
        elif (word == "FROM" and level.selected) or (word in known.joins and level.tables):
            level.tables = True
            self._factor()
        elif word in known.ends_tables or (word == "FROM" and level.call in _WITH_FROM):
            level.tables = False
        elif word == "FOR":
            self._require_lock()
            level.tables = False
        elif word == "ON" and known.upsert and self.skip(known.upsert):
            self._upsert()
            level.tables = False
        elif word == "ON" and (other := read_unquoted_word(self.peek())) in _UPSERTS_OF_OTHERS:
            raise build_workload_error(f"has ON {other}, {_UPSERTS_OF_OTHERS[other]}")
        elif word != "ON":
            self._phrase(word, level)

    def _require_lock(self) -> None:
        if self._names.language == "postgres" and self.skip("NO"):
            self.require("KEY")
            self.require("UPDATE")
        elif self._names.language == "postgres" and self.skip("KEY"):
            self.require("SHARE")
        else:
            self.require("UPDATE", "SHARE")

    def _upsert(self) -> None:
        """Read the part of an INSERT that says what happens to an existing row."""
        if self._vocabulary.upsert == "DUPLICATE":
            self.require("KEY")
            self.require("UPDATE")
            return
        if self.peek().is_mark("("):
            self._list_of_names()
        self.require("DO")
        if not self.skip("NOTHING"):
            self.require("UPDATE")
            self.require("SET")
            self._made.add("excluded")  # the row proposed for insertion

    def _phrase(self, word: str, level: _Level) -> None:
        """Read a keyword that must be followed by something specific."""
        match word:
            case "USING" if not self._vocabulary.joins:
                self.require("TTL", "TIMESTAMP")
            case "USING" | "INDEX" if level.tables:  # JOIN ... USING (column), FORCE INDEX (name)
                self._list_of_names()
            case "WITH":
                self.require("ROLLUP")
            case "COLLATE":
                self._read_own_name()
            case "AS" if level.call == "CAST" and self._vocabulary.types:
                self.require(*self._vocabulary.types)
            case "AS":
                if self.peek().kind == "name" or self._is_free(self.peek()):
                    self._made.add(self._read_own_name().lower())
            case _:
                raise build_workload_error(f"has {word} where it may lead to another table")

    def _operand(self, token: Token, word: str) -> None:
        """Read a function call, a word of an expression, or a column."""
        known = self._vocabulary
        opens = self.peek().is_mark("(")
        if self.is_call(token) and word in known.functions:
            self.next()
            self._read_parentheses(_Level(call=word))
        elif word in known.words or (word in known.modifiers and not opens):
            return
        elif opens:
            raise build_workload_error(
                f"calls {show_token(token)}, which is not an allowed function"
            )
        elif word in known.reserved:
            raise build_workload_error(
                f"has {word}, which is not allowed here: a column of this name is quoted"
            )
        else:
            self._name(token)

    def _read_parentheses(self, level: _Level) -> None:
        """Read the content of parentheses; the opening one is already read."""
        self._depth += 1
        if self._depth > DEPTH_MOST:
            raise build_workload_error(f"has more than {DEPTH_MOST} parentheses within each other")
        if level.tables and read_unquoted_word(self.peek()) != "SELECT":
            self._factor()
        self._read(level)
        self.expect(")")
        self._depth -= 1

    def _factor(self, *follows: str) -> None:
        """Read a table in a place where the server expects one, and its alias."""
        token = self.next()
        if read_unquoted_word(token) == "LATERAL" and self.peek().is_mark("("):
            token = self.next()
        if token.is_mark("("):
            self._read_parentheses(_Level(tables=True))
        else:
            self._table(token)
        if not self._vocabulary.joins:
            return
        if self.skip("AS") or self.peek().kind == "name" or self._is_free(self.peek()):
            self._made.add(self._read_own_name().lower())
        allowed, after = self._vocabulary.after_table, self.peek()
        ends = after is END or after.is_mark(",") or after.is_mark(")")
        if (
            allowed is not None
            and not ends
            and read_unquoted_word(after) not in {*allowed, *follows}
        ):
            raise build_workload_error(
                f"has {show_token(after)} where it may lead to another table"
            )

    def _table(self, token: Token) -> None:
        """Take a table name, which must be one of the workload's."""
        name = self._fold_name(token)
        if self.peek().is_mark("."):
            raise _reach_error(f"another database, {show_token(token)}")
        if token.kind not in {"word", "name"} or name not in self._tables:
            raise _reach_error(show_token(token))
        if read_unquoted_word(token) in self._vocabulary.reserved:
            raise build_workload_error(f"has {name}, which is a table in quotes only")

    def _name(self, token: Token) -> None:
        """Take a column, or `table.column`."""
        qualifier, column = None, token
        if self.peek().is_mark("."):
            self.next()
            qualifier, column = token.text, self.next()
        if self.peek().is_mark("(") or self.peek().is_mark("."):
            raise _reach_error(show_token(token))
        # a cast such as regclass 'pg_authid'
        if self._vocabulary.types and self.peek().kind == "text":
            raise build_workload_error(
                f"has text right after {show_token(token)}, which makes a type of it"
            )
        if column.kind in {"word", "name"}:
            self._used.append((qualifier, column.text))
        elif qualifier is None or not column.is_mark("*"):
            raise build_workload_error(
                f"has {show_token(column)} where a column of {show_token(token)} should be"
            )
        else:
            self._used.append((qualifier, "*"))

    def _require_known(self) -> None:
        tables = {*map(str.lower, self._names.tables), *self._made}
        columns = {*self._names.columns, *self._made, "*"}
        for qualifier, column in self._used:
            if qualifier is not None and qualifier.lower() not in tables:
                raise WorkloadError(complain_of_unknown("table", qualifier, tables))
            if column.lower() not in columns:
                hint = "add it to the `columns` of its table; AS names what is computed"
                raise WorkloadError(
                    complain_of_unknown("column", column, self._names.columns, hint=hint)
                )

    def _list_of_names(self) -> None:
        """Read `(a, b)`: columns or indexes, which the server resolves within the known tables."""
        self.expect("(")
        while (
            self.skip("PRIMARY") or self._read_own_name()
        ):  # PRIMARY is the name of an index in MySQL
            if not self.peek().is_mark(","):
                break
            self.next()
        self.expect(")")

    def _read_own_name(self, *, folded: bool = False) -> str:
        token = self.next()
        if token.kind != "name" and not self._is_free(token):
            raise build_workload_error(f"has {show_token(token)} where a name should be")
        return self._fold_name(token) if folded else token.text

    def _fold_name(self, token: Token) -> str:
        """Return a table's name as the server reads it: unquoted names may become lower case."""
        folds = self._vocabulary.folds and token.kind == "word"
        return token.text.lower() if folds else token.text

    def _is_free(self, token: Token) -> bool:
        """Whether an unquoted word is a name in every place."""
        word, known = read_unquoted_word(token), self._vocabulary
        taken = word in known.structure or word in known.words or word in known.modifiers
        return bool(word) and not taken and word not in known.reserved

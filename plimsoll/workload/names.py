"""The names that the statements of a workload may use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from plimsoll.model.databases import Language
from plimsoll.workload.tables import TableShape, copy_names
from plimsoll.workload.vocabulary import find_vocabulary


@dataclass(frozen=True)
class Names:
    """The names that the statements of a workload may use, in one language.

    Attributes:
        language: The language.
        tables: The tables, with their copies.
        columns: The columns of all tables, in small letters.
        procedures: The procedures that a CALL may name, in small letters.
    """

    language: Language
    tables: frozenset[str]
    columns: frozenset[str]
    procedures: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        shapes: Mapping[str, TableShape],
        language: Language,
        procedures: Iterable[str] = (),
    ) -> "Names":
        """Collect the names of the workload's tables, with those of their copies."""
        copies = (copy_names(table, shape.copies) for table, shape in shapes.items())
        tables = {name for names in copies for name in names}
        columns = {
            name for shape in shapes.values() for name in _list_column_names(shape, language)
        }
        if find_vocabulary(language).folds:
            tables = set(map(str.lower, tables))
        return cls(
            language,
            frozenset(tables),
            frozenset(map(str.lower, columns)),
            frozenset(map(str.lower, procedures)),
        )


def _list_column_names(shape: TableShape, language: Language) -> Iterable[str]:
    match language:
        case "sql" | "postgres":
            return shape.columns
        case "cql":
            return shape.cql_names.values()
        case _:
            assert_never(language)

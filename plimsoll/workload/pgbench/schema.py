"""The schema of scripts: an SQL file that makes their tables on a target made for the run.

Its statements are sent as the load's user, who has no rights beyond what he makes himself. So what
is refused here is what cannot work, or is no part of a schema; the server refuses the rest.
"""

from collections.abc import Sequence

from plimsoll.complaints import Complaint, Place
from plimsoll.errors import WorkloadError
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.pgbench.scanner import Meta, Piece, scan

MOST_STATEMENTS = 10_000
_DEFINES = {"CREATE", "ALTER", "DROP"}
_KINDS = {
    *("DOMAIN", "EXTENSION", "FUNCTION", "INDEX", "PROCEDURE", "RULE", "SCHEMA", "SEQUENCE"),
    *("STATISTICS", "TABLE", "TRIGGER", "TYPE", "VIEW"),
}
_BEFORE_KINDS = {
    *("CONSTRAINT", "MATERIALIZED", "OR", "RECURSIVE", "REPLACE", "UNIQUE", "UNLOGGED"),
}
_OTHERS = {
    *("ANALYZE", "BEGIN", "COMMENT", "COMMIT", "DELETE", "DO", "END", "INSERT", "SELECT", "SET"),
    *("START", "TRUNCATE", "UPDATE", "VACUUM", "WITH"),
}


def read_schema(text: str, source: str | None = None) -> tuple[str, ...]:
    r"""Return the statements of a schema.

    Args:
        text: The SQL, in PostgreSQL's language as psql reads it.
        source: The name of its file, for messages; None for a text within a request.

    Raises:
        WorkloadError: It has a command of psql, a variable, or a statement that no schema has;
            names the line.

    >>> read_schema("CREATE TABLE a (b int); -- why\nINSERT INTO a VALUES (1);")
    ('CREATE TABLE a (b int)', 'INSERT INTO a VALUES (1)')
    """
    line = 1
    statements: list[str] = []
    try:
        for command in scan(text):
            line = command.line
            if isinstance(command, Meta):
                raise build_workload_error(
                    f"\\{command.name} is a command of psql, which is not run"
                )
            for pieces in command.statements:
                said = [piece for piece in pieces if piece.kind != "comment"]
                _check(said)
                verb, last = said[0].text, said[-1]
                rest = text[said[0].start + len(verb) : last.start + len(last.text)]
                statements.append(f"{verb} {rest.lstrip()}".rstrip())
        if not 1 <= len(statements) <= MOST_STATEMENTS:
            raise build_workload_error(
                f"has {len(statements):,} statements: 1 to {MOST_STATEMENTS:,}"
            )
    except WorkloadError as error:
        (complaint,) = error.complaints
        line = next((part for part in complaint.path if isinstance(part, int)), line)
        if source is None:
            raise WorkloadError(Complaint((), f"line {line}: {complaint.problem}")) from None
        raise WorkloadError(Complaint((), complaint.problem, place=Place(source, line))) from None
    return tuple(statements)


def _check(pieces: Sequence[Piece]) -> None:
    if variable := next((piece.text for piece in pieces if piece.kind == "variable"), None):
        raise build_workload_error(f":{variable} is a variable of psql, which has no value here")
    first, *rest = pieces
    verb = first.unquoted
    if verb == "COPY":
        raise build_workload_error("COPY needs rows that a client sends: write INSERT instead")
    kind = next((piece for piece in rest if piece.unquoted not in _BEFORE_KINDS), None)
    known = kind is not None and kind.unquoted in _KINDS if verb in _DEFINES else verb in _OTHERS
    if not known:
        told = [first.text, kind.text] if kind and verb in _DEFINES else [first.text]
        raise build_workload_error(f"{' '.join(told)[:64]} is no statement of a schema")

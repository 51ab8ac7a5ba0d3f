"""What a statement may reach: the tables of its own database, and nothing beside them.

This refuses what can be seen in a statement's text, before anything is provisioned. What really
keeps a load in its database is the user that it connects as (`plimsoll.families.load_user`).
"""

import re
from typing import get_args

from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine import Protocol

FIRST_WORDS = ("delete", "insert", "replace", "select", "update", "with")
_SYSTEM = [name for known in get_args(Protocol) for name in protocol_facts(known).system_schemas]
_TEXT = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"", re.DOTALL)
_QUOTED_NAME = re.compile(r'"(\w+)"(?=\s*\.)|(?<=\.)\s*"(\w+)"')  # a name of CQL beside a dot
_NAME = re.compile(r"`(?:[^`]|``)*`")
_COMMENT = re.compile(r"--[ \t][^\n]*|\#[^\n]*|/\*.*?\*/", re.DOTALL)
_HARMLESS = re.compile(  # FROM and UPDATE that name no table
    r"\b(extract|trim|substring|substr)\s*\([^()]*\)|\bon\s+duplicate\s+key\s+update\b"
)
_PLACES = re.compile(  # where tables are named, up to the next clause
    r"\b(?:from|join|into|update|table|using)\b(?P<tables>.*?)(?=\b(?:from|join|into|update|where"
    r"|group|order|limit|having|set|values|value|select|on|using|union|for|window)\b|$)",
    re.DOTALL,
)
_QUALIFIED = re.compile(
    r"\s*(?:(?:low_priority|ignore|delayed|quick|only)\s+)*[\w$]+\s*\.\s*[\w$*]"
)
_SYSTEM_NAME = re.compile(rf"(?<![\w.$])(?:{'|'.join(_SYSTEM)})\s*\.\s*\w")


def _as_word(name: re.Match[str]) -> str:
    return re.sub(r"\W", "_", name[0].strip("`"))


def beyond(text: str) -> str | None:
    """Say how a statement reaches beyond its own tables; None where it does not, as far as seen.

    Args:
        text: SQL or CQL, its tables filled in.
    """
    plain = _TEXT.sub("''", _QUOTED_NAME.sub(r"\1\2", text))
    if re.search(r"/\*M?!", plain):
        return "a comment that servers execute"
    plain = _HARMLESS.sub(" ", _NAME.sub(_as_word, _COMMENT.sub(" ", plain)).lower())
    first = re.match(r"[\s(]*(\w*)", plain)
    if first is None or first[1] not in FIRST_WORDS:
        word = first[1].upper() if first and first[1] else "nothing"
        return f"{word}, which is none of {', '.join(FIRST_WORDS).upper()}"
    if re.search(r"\binto\s+(outfile|dumpfile)\b|\bload_file\s*\(", plain):
        return "a file of the server"
    if system_name := _SYSTEM_NAME.search(plain):
        return f"the server's own {system_name[0]}..."
    for place in _PLACES.finditer(plain):
        for table in re.sub(r"[()]", " ", place["tables"]).split(","):
            if _QUALIFIED.match(table):
                return f"another database ({table.strip().split()[0]})"
    return None

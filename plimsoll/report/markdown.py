"""Summaries as Markdown, for the page of a pull request."""

import re
from collections.abc import Sequence

from plimsoll import words
from plimsoll.report.summaries import Summary

_MARKUP = re.compile(r"[\\`*_\[\]#|~<&@$]|://|www\.", re.IGNORECASE)
_CALLS = re.compile(r"(&#(?:35|64);)")  # # and @: a number or a name behind them is a link
_SIGNS = {"met": "✅", "not met": "❌", "no answer": "⚠️", "failed": "❌"}


def markdown(summaries: Sequence[Summary]) -> str:
    """Write a heading, a table of facts and a table of rules for each run."""
    return "\n".join(map(_section, summaries))


def _section(summary: Summary) -> str:
    lines = [
        f"### {_SIGNS[summary.told]} {_text(summary.name)}: {summary.told}",
        "",
        "| | |",
        "|---|---|",
        *(f"| {_text(name)} | {_text(value)} |" for name, value in summary.facts),
        "",
        "| expected | | |",
        "|---|---|---|",
        *(
            f"| {_text(case.name)} | {_SIGNS[case.told]} {case.told} | {_text(case.because)} |"
            for case in summary.cases
        ),
        "",
    ]
    return "\n".join(lines)


def _text(text: str) -> str:
    """Write a text of others so that nothing in it is markup, a link or a call of a name."""
    line = " ".join(words.visible(text).split())
    escaped = _MARKUP.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[0]), line)
    return _CALLS.sub(r"\1&#8203;", escaped)

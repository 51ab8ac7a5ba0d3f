"""The guides of docs/ (tutorials and how-tos): their commands, and the files that readers save."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.command import Output

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_NAVIGATION = (ROOT / "tools/mkdocs.yml").read_text().partition("\n  - Tutorials:")[2]
GUIDES = re.findall(r": ([\w-]+)\.md\n", _NAVIGATION.partition("\n  - Reference:")[0])
NEEDS_AWS = "# needs AWS"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
SAVED_AS = re.compile(r"[Ss]ave (?:a request|this|it)\*{0,2} as `([\w.-]+\.yaml)`")


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language, without the indentation of the list that they stand in."""
    return [
        re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)
        for indent, kind, text in BLOCK.findall(page.read_text())
        if kind == language
    ]


def commands(page: Path, *, here: bool = False) -> list[list[str]]:
    """List the commands of a page; `here` leaves out those that it marks as in need of AWS."""
    text = "\n".join(blocks(page, "sh")).replace("\\\n", " ")
    lines = [line for line in text.splitlines() if not (here and NEEDS_AWS in line)]
    words = [shlex.split(line.rstrip("& "), comments=True) for line in lines]
    called = [[line[0].removeprefix(".venv/bin/"), *line[1:]] for line in words if line]
    return [line for line in called if line[0] == "plimsoll"]


def files(page: Path) -> dict[str, str]:
    """Return what a page has its reader save, by name."""
    names = SAVED_AS.findall(page.read_text())
    texts = blocks(page, "yaml")
    assert len(names) == len(texts), page.name
    return dict(zip(names, texts, strict=True))


# guides whose commands tests/local/test_guides.py runs
HERE = {
    "buying-iops", "capacity", "ci", "derive", "experiments", "finding", "first-load-line", "gate",
    "observing", "production-to-purchase", "reading-a-report", "scripts", "sizing", "versus",
}  # fmt: skip
QUICK = {"capacity", "reading-a-report"}  # the others are for `make test-all`
# guides whose commands tests/local/service/test_guides.py runs
AT_SERVICE = {"checks", "service-for-teams"}
# verbs with a process of their own, which stays: the tests that run them
ELSEWHERE = {
    "canary": "tests/local/service/test_canary_verb.py",
    "serve": "tests/local/service/test_serve_verb.py",
}
# exit codes of answers: a verdict without a figure, too, and a load that nothing carries
CODES = {
    "capacity": {0, 3}, "doctor": {0, 1}, "experiment": {0, 3}, "find": {0, 3}, "gate": {0, 1},
    "run": {0, 3}, "show": {0, 3}, "size": {0, 1, 3, 4}, "submit": {0, 3}, "versus": {0, 3},
}  # fmt: skip
OUTPUTS = ROOT / "tests/unit/capacity/readers/outputs"
BRIEF = "--warm 0 --warmup 0 --duration 1 --max-connections 2 --quick --without-audit undisturbed"
# options that a test gives in place of a page's, which take minutes
SHORTER: dict[str, dict[str, str]] = {
    "find": {"--records": "300", "--limit": "10s"},
    "prepare": {"--records": "300"},
    "versus": {"--warmup": "0", "--duration": "0.5", "--matters": "50"},
    "gate": {"--records": "300"},
    "observe": {"--for": "2s"},
    "derive": {"--for": "2s"},
}
MORE = {
    "find": BRIEF.split(),
    "load": ["--warmup", "0", "--duration", "1"],
    "versus": ["--pairs-max", "6"],
    "gate": ["--operations", "100", "--pairs", "3"],
}
# `tpcb-like` has 100,000 accounts for each record
ONE_RECORD = {"tpcb-like"}
SMALL: dict[str, Any] = {
    "workload": {"records": 300},
    "search": {"strategy": "steps", "clients": [1, 2]},
    "load": {"warmup_s": 0, "duration_s": 1, "recovery_max_s": 1, "timeout_ms": 30_000},
    "limits": {
        "audits_off": ["undisturbed"],
        "confirmation": None,
        "statistic": "mean",
        "limits_us": {},
    },
    "prepare": {"warm_s": 0},
    "time_limit_s": 900,
}


def with_clients(clients: int) -> str:
    """Return an output of pgbench with that many clients."""
    head, _, rest = (OUTPUTS / "pgbench-15.txt").read_text().partition("number of clients: ")
    return f"{head}number of clients: {clients}\n{rest.partition(chr(10))[2]}"


@dataclass
class Scene:
    """What stands for the servers and results that a guide's commands name.

    Attributes:
        databases: DSN of a database of the test's, by the place (`host/name`) that the page names.
        variable: DSN that the page exports; empty if it is any empty database.
    """

    databases: dict[str, str] = field(default_factory=dict)
    variable: str = ""

    def play(self, line: list[str]) -> list[str]:
        """Return a page's command as a test runs it: soon over, and on the test's own servers."""
        verb = line[2] if line[1] in {"workload", "schedule"} else line[1]
        shorter = SHORTER.get(verb, {})
        if verb in {"find", "prepare"} and ONE_RECORD & set(line):
            shorter = {**shorter, "--records": "1"}
        words = list(line[1:])
        for i, word in enumerate(words):
            if "://" in word and not word.startswith(("http", "rds")):
                words[i] = self.databases[word.rpartition("@")[2]]
            elif i and words[i - 1] in shorter:
                prefix = word.rpartition("=")[0]
                words[i] = f"{prefix}={shorter[words[i - 1]]}" if prefix else shorter[words[i - 1]]
        if verb in {"run", "submit", "put"}:
            for file in map(Path, words):
                if file.suffix == ".yaml" and file.exists():
                    shrink(file)
        return [*words, *MORE.get(verb, [])]


def require_answer(line: list[str], output: Output) -> None:
    """Fail unless a command ended with an answer; whether a rule is met, this machine decides."""
    code, out, _ = output
    allowed = {0, 1, 3} if "--expect" in line else CODES.get(line[1], {0})
    assert code in allowed, (line, output)
    assert code == 0 or out, (line, output)  # an error is told on standard error alone


def shrink(file: Path) -> None:
    """Rewrite in place what a command starts: a request, an experiment or a check of seconds."""
    document = yaml.safe_load(file.read_text())
    if "cron" in document.get("schedule", ""):
        return  # it starts nothing yet
    if "request" in document:
        document["request"] = shrunk(document["request"])
    else:
        document = shrunk(document)
    file.write_text(yaml.safe_dump(document))


def shrunk(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request whose run takes seconds."""
    return {**request, **SMALL, "workload": {**request["workload"], **SMALL["workload"]}}

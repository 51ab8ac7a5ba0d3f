"""The commands of the pages on deploying: which are followed on an emulator, and which are not.

`tests/second_opinion/test_journey.py` runs those that are followed as they stand on the pages.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "deploying.md", DOCS / "configuration.md")
_FENCED = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"`((?:npx|make|aws|plimsoll|\.venv/bin/\w+|python3?) [^`]+)`")

# In the order in which the journey runs them.
FOLLOWED = (
    "npx cdk bootstrap aws://ACCOUNT/REGION",
    "npx cdk diff",
    "npx cdk deploy",
    "plimsoll preflight request.yaml",
    ".venv/bin/plimsoll submit request.yaml",
    "plimsoll status ID",
    "plimsoll watch ID --out DIR",
    "plimsoll team put FILE",
    ".venv/bin/plimsoll drain --wait && npx cdk deploy && .venv/bin/plimsoll drain --end",
    "npx cdk destroy",
)
# Why not, and where it is tested instead.
NOT_FOLLOWED: Mapping[str, str] = {
    "make setup package": "what installs the tests has run it: tests/local/test_packaged_functions",
    "aws s3 sync s3://BUCKET/runs/RUN_ID/ DIR": "AWS's own command, which tests do not install",
    "plimsoll submit": "it stands above, with its file",
    "plimsoll validate": "it asks no deployment: tests/unit/test_cli_validate",
    ".venv/bin/python -m tools.execution_policy cdk.out/Plimsoll.template.json": (
        "the emulator does not ask CloudFormation's role: tests/infrastructure"
    ),
    "npx cdk synth": "each assembly of the journey is made by it, for the packages of this machine",
    ".venv/bin/plimsoll canary --profile PROFILE --region REGION": "on AWS alone: tests/aws/trial",
    ".venv/bin/plimsoll canary --local": "it has a test: tests/local/service/test_canary_verb",
    "plimsoll prices --region R": "it asks AWS's list of prices: tests/unit/quoting",
    "make cassandra": "the emulator has no Cassandra: tests/infrastructure/test_install_cassandra",
    "plimsoll console": "it has tests: tests/local/service",
    "aws ec2 describe-managed-prefix-lists --filters Name=prefix-list-name,"
    "Values=com.amazonaws.REGION.s3 --query 'PrefixLists[].PrefixListId' --output text": (
        "AWS's own command, which tests do not install"
    ),
}


def read_commands() -> list[str]:
    """List the pages' commands in order, each once, without comments."""
    text = "\n".join(page.read_text() for page in PAGES)
    return list(dict.fromkeys(_find_commands(text)))


def _find_commands(text: str) -> Iterator[str]:
    blocks = [(found.start(), line) for found in _FENCED.finditer(text)
              for line in found[1].splitlines()]  # fmt: skip
    quoted = [(found.start(), found[1]) for found in _QUOTED.finditer(_FENCED.sub(_blank, text))]
    for _, line in sorted(blocks + quoted, key=lambda each: each[0]):
        if command := line.partition(" #")[0].strip():
            yield command


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])

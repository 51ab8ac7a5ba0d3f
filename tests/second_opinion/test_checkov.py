"""checkov on the templates: docs/evidence/checkov.md answers each of its findings.

checkov is a program with rules of others for infrastructure as code.
"""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.infrastructure.conftest import target_templates, templates
from tests.infrastructure.template import ROOT, Template
from tests.second_opinion import environment_of_its_own as environment

__all__ = ["target_templates", "templates"]  # fixtures

PAGE = ROOT / "docs/evidence/checkov.md"
_ROW = re.compile(r"^\| (CKV\w+) \| [^|]+ \| `([^`|]+)` \| [^|]+ \|$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """A check that a resource fails, or a row of the page that answers such findings.

    resource: Type and logical id, such as `AWS::S3::Bucket.StorageResults1A2B3C4D`; a row's has
        `*` for any text.
    """

    check: str
    resource: str

    def answers(self, finding: "Finding") -> bool:
        """Whether this row fits a finding."""
        return self.check == finding.check and fnmatchcase(finding.resource, self.resource)


def test_each_finding_has_an_answer(
    templates: dict[str, Template],
    target_templates: dict[str, Template],
    record_property: Callable[[str, object], None],
) -> None:
    found = run_checkov([each.path for each in (*templates.values(), *target_templates.values())])
    rows = [Finding(*row) for row in _ROW.findall(PAGE.read_text())]
    answers = {
        finding: next((row for row in rows if row.answers(finding)), None) for finding in found
    }
    open_findings = sorted(finding for finding, row in answers.items() if row is None)
    assert not open_findings, f"{PAGE.name} has no answer to {open_findings}"
    spare_rows = sorted(set(rows) - set(answers.values()))
    assert not spare_rows, f"{PAGE.name} answers what was not found: {spare_rows}"
    kinds = len({finding.check for finding in found})
    record_property("counted", f"{len(found)} findings of {kinds} kinds, each answered")


def run_checkov(files: Sequence[Path]) -> list[Finding]:
    """Return what checkov finds in templates, once for each resource and check."""
    done = subprocess.run(
        [environment.checkov(), "--file", *files, "--framework", "cloudformation",
         "--output", "json", "--compact", "--quiet", "--skip-download"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert not report["summary"]["parsing_errors"], report["results"]["parsing_errors"]
    failed = report["results"]["failed_checks"]
    return sorted({Finding(each["check_id"], each["resource"]) for each in failed})

"""Writes the target templates: `python -m stacks.targets.synthesis` (`make synth`)."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App

from stacks.targets.aurora_template import AuroraTemplate
from stacks.targets.cassandra_template import CassandraTemplate
from stacks.targets.rds_template import RdsTemplate

TEMPLATES = Path(__file__).parents[2] / "plimsoll" / "targets" / "templates"


def define_stacks(directory: Path) -> App:
    """Define every target's stack, in an app that is never deployed."""
    app = App(
        outdir=str(directory),
        analytics_reporting=False,
        context={"@aws-cdk/core:validateAgainstDefaultRules": True},
    )
    RdsTemplate(app)
    AuroraTemplate(app)
    CassandraTemplate(app)
    return app


def synthesize_templates() -> Mapping[str, str]:
    """Synthesize each target's template.

    Returns:
        The text of each template, by file name.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-targets-") as directory:
        return {
            f"{stack.stack_name}.template.json": write_template(stack.template)
            for stack in define_stacks(Path(directory)).synth().stacks
        }


def write_template(template: Any) -> str:
    """Return a template as it is committed."""
    return json.dumps(template, indent=1) + "\n"


def main() -> None:
    """Write every template to where the library finds it."""
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    for name, text in synthesize_templates().items():
        (TEMPLATES / name).write_text(text)


if __name__ == "__main__":
    main()

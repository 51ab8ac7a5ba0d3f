"""The scenarios that come with Plimsoll, as examples for beginners: as YAML and as JSON."""

from functools import cache
from typing import Any, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.packaged import find_packaged_folder
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.experiment_file import read_file


class Scenario(Model):
    """A scenario."""

    name: str
    about: str = Field(description="First sentence of the description.")
    kind: Literal["run", "runs", "experiment"] = Field(
        description="Kind of file; `runs` has several runs that share most of their request."
    )
    yaml: str = Field(description="Text of the file.")
    requests: dict[str, dict[str, Any]] = Field(
        description="Body of `POST /runs` for each run, by name; empty for an experiment."
    )
    experiment: dict[str, Any] | None = Field(
        description="Body of `POST /experiments`; null if it is not an experiment."
    )


class Scenarios(Model):
    """All scenarios."""

    scenarios: tuple[Scenario, ...] = Field(description="All scenarios, sorted by name.")


@cache
def scenarios() -> Scenarios:
    """Read all scenarios."""
    made = []
    for file in sorted(find_packaged_folder("scenarios").glob("*.yaml")):
        asked, text = read_file(file), file.read_text(encoding="utf-8")
        matrix = asked.experiment if isinstance(asked, CheckedExperiment) else None
        requests = {} if isinstance(asked, CheckedExperiment) else asked
        made.append(
            Scenario(
                name=file.stem,
                about=_read_first_sentence(text),
                kind="experiment" if matrix else "runs" if len(requests) > 1 else "run",
                yaml=text,
                requests={name: _dump_request(one.request) for name, one in requests.items()},
                experiment=_dump_request(matrix) if matrix else None,
            )
        )
    return Scenarios(scenarios=tuple(made))


def _dump_request(asked: Model) -> dict[str, Any]:
    return asked.model_dump(mode="json", exclude_unset=True)


def _read_first_sentence(text: str) -> str:
    """Return the first sentence of the comment at the beginning of a file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        lines.append(line[2:])
    return " ".join(lines).partition(". ")[0].rstrip(".")

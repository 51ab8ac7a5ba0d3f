"""What is in each function's package, by name, so that nothing creeps in unseen."""

import pytest

from plimsoll.model.deployment.functions import FUNCTIONS
from stacks.packaging import AWS_LAMBDA, Kind, choose_kinds

# What every package holds: AWS's client, the models, YAML, and the drivers that are small.
EVERYWHERE = {
    "annotated-types", "asn1crypto", "boto3", "botocore", "jmespath", "pg8000", "pydantic",
    "pydantic-core", "python-dateutil", "pyyaml", "s3transfer", "scramp", "six",
    "typing-extensions", "typing-inspection", "urllib3",
}  # fmt: skip
MYSQL = {"cffi", "cryptography", "pycparser", "pymysql"}
CASSANDRA = {"cassandra-driver", "click", "deprecated", "geomet", "wrapt"}
INFLUXDB = {"certifi", "influxdb-client", "reactivex"}
PAGES = {"jinja2", "markupsafe"}
# {package: (whether it has the engine, its distributions besides those of all)}
PACKAGES: dict[str, tuple[bool, set[str]]] = {
    "load": (True, MYSQL | INFLUXDB),
    "analysis": (True, MYSQL | INFLUXDB | CASSANDRA | PAGES | {"numpy"}),
    "checks": (
        False,
        {"apache-otava", "certifi", "charset-normalizer", "idna", "numpy", "requests", "scipy"},
    ),
    "service": (False, MYSQL | CASSANDRA | {"aws-lambda-powertools", "numpy"}),
}
FUNCTIONS_OF = {
    "load": {
        "arm-deletion", "await-target", "create-target", "delete-datasets", "delete-target",
        "janitor", "load-client", "plan-experiment", "record-run", "settle-cells", "submit-cell",
        "take-snapshot",
    },
    "checks": {"judge-check", "start-check"},
    "service": {"api"},
}  # fmt: skip


@pytest.fixture(scope="module")
def kinds() -> dict[str, Kind]:
    """The package of each function, as for Lambda."""
    return choose_kinds(FUNCTIONS.values(), AWS_LAMBDA)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_holds_these_distributions(kinds: dict[str, Kind], package: str) -> None:
    (kind,) = {kind for kind in kinds.values() if kind.name == package}
    engine, besides = PACKAGES[package]
    expected = EVERYWHERE | besides
    assert kind.needs - expected == set(), "crept in"
    assert expected - kind.needs == set(), "needed no more: shorten the list"
    assert kind.engine == engine


def test_every_function_has_one_of_these_packages(kinds: dict[str, Kind]) -> None:
    served: dict[str, set[str]] = {}
    for function, kind in kinds.items():
        served.setdefault(kind.name, set()).add(function)
    assert set(served) == set(PACKAGES)
    assert {name: served[name] for name in FUNCTIONS_OF} == FUNCTIONS_OF

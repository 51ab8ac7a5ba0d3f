"""docs/requests.md says what the models say."""

from tools.request_reference import PAGE, reference


def test_the_page_is_what_the_models_give() -> None:
    assert PAGE.read_text() == reference(), "run: make docs"


def test_every_field_of_a_request_says_what_it_means() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 60
    silent = [row for row in rows if row.endswith("|  |")]
    assert silent == []

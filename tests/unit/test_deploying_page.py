"""Each command of the pages on deploying is followed on an emulator, or is known not to be."""

from tests.support.deploying_page import FOLLOWED, NOT_FOLLOWED, read_commands


def test_each_command_of_the_pages_is_followed_or_has_a_reason() -> None:
    assert not set(FOLLOWED) & set(NOT_FOLLOWED)
    assert sorted(read_commands()) == sorted((*FOLLOWED, *NOT_FOLLOWED))

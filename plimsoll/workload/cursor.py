"""A place in a statement that moves forward, token by token."""

from plimsoll.workload.declared import refusal
from plimsoll.workload.tokens import Token

END = Token("mark", "", 0, 0)  # what follows the last token


def word_of(token: Token) -> str:
    """Give an unquoted word in capitals; empty for any other token."""
    return token.text.upper() if token.kind == "word" else ""


class Cursor:
    """Goes through tokens once, from left to right."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        """Stand before the first one."""
        self._tokens = tokens
        self._at = 0

    def peek(self) -> Token:
        """Look at what comes, and stay."""
        return self._tokens[self._at] if self._at < len(self._tokens) else END

    def next(self) -> Token:
        """Take what comes."""
        token = self.peek()
        self._at += 1
        return token

    def skip(self, *words: str) -> bool:
        """Pass over some words, in any order; say whether there was any."""
        start = self._at
        while word_of(self.peek()) in words:
            self.next()
        return self._at > start

    def require(self, *words: str) -> None:
        """Take one of some words.

        Raises:
            WorkloadError: Something else comes.
        """
        token = self.next()
        if word_of(token) not in words:
            raise refusal(f"has {shown(token)} where {' or '.join(words)} is allowed")

    def expect(self, mark: str) -> None:
        """Take a mark.

        Raises:
            WorkloadError: Something else comes.
        """
        token = self.next()
        if not token.is_mark(mark):
            raise refusal(f"has {shown(token)} where {mark} is allowed")

    def is_call(self, token: Token) -> bool:
        """Whether a parenthesis comes right after: behind a space, it may be another function."""
        return self.peek().is_mark("(") and self.peek().start == token.end


def shown(token: Token) -> str:
    """Name a token for people; the beginning of a long one."""
    return repr(token.text[:64]) if token is not END else "its end"

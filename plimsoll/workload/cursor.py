"""A cursor that moves through a statement token by token."""

from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.tokens import Token

END = Token("mark", "", 0, 0)  # stands after the last token


def read_unquoted_word(token: Token) -> str:
    """Return an unquoted word in capitals; empty for any other token."""
    return token.text.upper() if token.kind == "word" else ""


class Cursor:
    """Reads tokens once, from left to right."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        """Start before the first token."""
        self._tokens = tokens
        self._at = 0

    def peek(self) -> Token:
        """Return the next token without moving."""
        return self._tokens[self._at] if self._at < len(self._tokens) else END

    def next(self) -> Token:
        """Return the next token and move past it."""
        token = self.peek()
        self._at += 1
        return token

    def skip(self, *words: str) -> bool:
        """Skip all of these words that come next, in any order; returns whether there was one."""
        start = self._at
        while read_unquoted_word(self.peek()) in words:
            self.next()
        return self._at > start

    def require(self, *words: str) -> None:
        """Take one of these words.

        Raises:
            WorkloadError: The next token is another one.
        """
        token = self.next()
        if read_unquoted_word(token) not in words:
            raise build_workload_error(
                f"has {show_token(token)} where {' or '.join(words)} is allowed"
            )

    def expect(self, mark: str) -> None:
        """Take this mark.

        Raises:
            WorkloadError: The next token is another one.
        """
        token = self.next()
        if not token.is_mark(mark):
            raise build_workload_error(f"has {show_token(token)} where {mark} is allowed")

    def is_call(self, token: Token) -> bool:
        """Whether a parenthesis follows directly; after a space it may be another function."""
        return self.peek().is_mark("(") and self.peek().start == token.end


def show_token(token: Token) -> str:
    """Show a token to people; a long one is cut."""
    return repr(token.text[:64]) if token is not END else "its end"

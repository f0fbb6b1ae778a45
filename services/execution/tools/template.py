"""Commands as argument vectors with placeholders for parameters; nothing else is ever sent."""

import re
import shlex
from collections.abc import Mapping, Sequence

from services.kit.errors import InvalidInputError
from services.workflow.commands import Gap, split_at_gaps

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class BadTemplateError(InvalidInputError):
    """Error of a word with more than one placeholder, or with braces that do not close."""


class CommandTemplate:
    """Words of a command, each literal or with one placeholder: `["show", "{interface}"]`."""

    def __init__(self, words: Sequence[str]) -> None:
        """Check the words.

        Raises:
            BadTemplateError: A word has more than one placeholder, or braces that do not close.
        """
        for word in words:
            if len(_PLACEHOLDER.findall(word)) > 1 or ("{" in _PLACEHOLDER.sub("", word)):
                raise BadTemplateError(f"one place such as {{name}} in a word, got {word!r}")
        self.words = tuple(words)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        return tuple(name for word in self.words for name in _PLACEHOLDER.findall(word))

    def filled(self, arguments: Mapping[str, str]) -> list[str]:
        """Return the argument vector; each argument stays in its word, whatever it holds."""
        return [_PLACEHOLDER.sub(lambda m: arguments[m.group(1)], word) for word in self.words]

    def match_command(self, command: str) -> dict[str, str] | None:
        """Return the arguments in a page's command; None if it is another command.

        Every word must match; extra words make it another command too.
        """
        words = split_words(command)
        if words is None or len(words) != len(self.words):
            return None
        arguments: dict[str, str] = {}
        for word_of_command, word in zip(words, self.words, strict=True):
            pattern = re.escape(word).replace(r"\{", "{").replace(r"\}", "}")
            matched = re.fullmatch(
                _PLACEHOLDER.sub(r"(?P<\1>.+)", pattern), word_of_command, re.IGNORECASE
            )
            if matched is None:
                return None
            arguments |= matched.groupdict()
        return arguments

    def match_in_text(self, text: str) -> dict[str, str] | None:
        """Return the arguments in a sentence that has the command; None if it does not.

        `See who touched it: show logging last 50` matches `show logging last {count}`.
        """
        words = (
            rf"(?P<{word[1:-1]}><[^<>]+>|[^\s`<>]+?)"
            if _PLACEHOLDER.fullmatch(word)
            else re.escape(word)
            for word in self.words
        )
        pattern = r"(?<![\w-])" + r"\s+".join(words) + r"(?=[\s`.,:;)?]|$)"
        if any("{" in word and not _PLACEHOLDER.fullmatch(word) for word in self.words):
            return None
        match = re.search(pattern, text, re.IGNORECASE)
        return match.groupdict() if match else None


def split_words(command: str) -> list[str] | None:
    """Split a command into words as a shell would; None if its quotes do not close.

    A blank that the reader fills in, such as `<name of the node>`, is one word.
    """
    parts = split_at_gaps(command.strip().removeprefix("$ "))
    escaped = "".join(p if isinstance(p, str) else f"\0{n}\0" for n, p in enumerate(parts))
    try:
        words = shlex.split(escaped)
    except ValueError:
        return None
    gaps = {f"\0{n}\0": p.written for n, p in enumerate(parts) if isinstance(p, Gap)}
    return [re.sub("\0\\d+\0", lambda m: gaps[m.group()], word) for word in words]


def is_blank(argument: str) -> bool:
    """Return True if the argument is a blank that the page leaves to its reader."""
    parts = split_at_gaps(argument)
    return len(parts) == 1 and isinstance(parts[0], Gap)

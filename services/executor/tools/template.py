"""A command as an argument vector with places for parameters; nothing else is ever sent."""

import re
import shlex
from collections.abc import Mapping, Sequence

from services.kit.errors import InvalidInputError
from services.workflow.commands import Gap, pieces

_PLACE = re.compile(r"\{(\w+)\}")


class BadTemplateError(InvalidInputError):
    """A word of a command holds more than one place, or its braces do not close."""


class Template:
    """Words, each literal or with one place: `["show", "interface", "{interface}"]`."""

    def __init__(self, words: Sequence[str]) -> None:
        """Raises `BadTemplateError`."""
        for word in words:
            if len(_PLACE.findall(word)) > 1 or ("{" in _PLACE.sub("", word)):
                raise BadTemplateError(f"one place such as {{name}} in a word, got {word!r}")
        self.words = tuple(words)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        return tuple(name for word in self.words for name in _PLACE.findall(word))

    def filled(self, arguments: Mapping[str, str]) -> list[str]:
        """The argument vector; each argument stays within its word, whatever it holds."""
        return [_PLACE.sub(lambda m: arguments[m.group(1)], word) for word in self.words]

    def arguments_of(self, command: str) -> dict[str, str] | None:
        """What a page's command puts into the places; None where it is another command.

        Every word must be there and agree; words in excess make it another command too.
        """
        words = split(command)
        if words is None or len(words) != len(self.words):
            return None
        found: dict[str, str] = {}
        for told, word in zip(words, self.words, strict=True):
            pattern = re.escape(word).replace(r"\{", "{").replace(r"\}", "}")
            matched = re.fullmatch(_PLACE.sub(r"(?P<\1>.+)", pattern), told, re.IGNORECASE)
            if matched is None:
                return None
            found |= matched.groupdict()
        return found

    def found_in(self, text: str) -> dict[str, str] | None:
        """What a sentence puts into the places where it tells the command; None where it does not.

        `See who touched it: show logging last 50` tells `show logging last {count}`.
        """
        words = (
            rf"(?P<{word[1:-1]}><[^<>]+>|[^\s`<>]+?)" if _PLACE.fullmatch(word) else re.escape(word)
            for word in self.words
        )
        pattern = r"(?<![\w-])" + r"\s+".join(words) + r"(?=[\s`.,:;)?]|$)"
        if any("{" in word and not _PLACE.fullmatch(word) for word in self.words):
            return None
        found = re.search(pattern, text, re.IGNORECASE)
        return found.groupdict() if found else None


def split(command: str) -> list[str] | None:
    """The words of a command as a shell would take them; None where its quotes do not close.

    A blank that the reader fills in, such as `<name of the node>`, is one word.
    """
    told = pieces(command.strip().removeprefix("$ "))
    kept = "".join(p if isinstance(p, str) else f"\0{n}\0" for n, p in enumerate(told))
    try:
        words = shlex.split(kept)
    except ValueError:
        return None
    gaps = {f"\0{n}\0": p.written for n, p in enumerate(told) if isinstance(p, Gap)}
    return [re.sub("\0\\d+\0", lambda m: gaps[m.group()], word) for word in words]


def is_blank(argument: str) -> bool:
    """Whether a page leaves it to its reader what stands here."""
    told = pieces(argument)
    return len(told) == 1 and isinstance(told[0], Gap)

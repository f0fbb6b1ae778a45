"""Commands as sources show them, whole ones only."""

import re
from collections.abc import Iterable, Iterator

from services.language.commands import TELLS
from services.workflow.page_code import PageCode, code_parts

_FORBIDS = re.compile(r"\b(?:never|not|cannot|avoid|without)\b|n't\b", re.IGNORECASE)
_CONTINUED = re.compile(r"\\\n\s*|(?<=[|&])[ \t]*\n\s*")
_COMMENT = re.compile(r"\s+#\s.*$")
_SENTENCE_END = " .:;,"


def lines_of(command: str) -> list[str]:
    """Its lines without prompts, continued ones joined, spaces single."""
    typed = "\n".join(part.text for part in code_parts(PageCode(command)))
    lines = (" ".join(line.split()) for line in _CONTINUED.sub(" ", typed).splitlines())
    return [line for line in lines if line]


def shown_in(texts: Iterable[str]) -> Iterator[str]:
    """What the texts show: each as a whole, every line, and of a pipe what it begins with."""
    for lines in map(lines_of, texts):
        yield " ".join(lines)
        for line in lines:
            yield line
            bare = _COMMENT.sub("", line)
            yield bare
            yield bare.split(" | ")[0]


def tells(sentence: str, command: str) -> bool:
    """Whether a sentence ends by telling to run the command, or is nothing but the command."""
    for said in (sentence, sentence.rstrip(_SENTENCE_END)):
        before = said.removesuffix(command)
        if before != said and (
            not before or (TELLS.search(before) and not _FORBIDS.search(before))
        ):
            return True
    return False

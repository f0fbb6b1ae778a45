"""Whether a text has a command but for its placeholders, with a value in the place of each."""

from itertools import islice

from services.workflow.commands import Gap, pieces

_GAP = "\x00"
_AROUND = "`*.,;:()\"'"
"""What a text may put around a command and its words."""


def says_with_values(text: str, command: str) -> bool:
    """Compared word by word; False of a command without placeholders, or of nothing else."""
    found = pieces(command)
    told = "".join(_GAP if isinstance(each, Gap) else each for each in found)
    wanted = [word.strip(_AROUND) for word in told.split()]
    if _GAP not in told or not any(word.strip(_GAP) for word in wanted):
        return False
    words = [word.strip(_AROUND) for word in text.split()]
    return any(
        all(map(_fits, wanted, islice(words, at, None)))
        for at in range(len(words) - len(wanted) + 1)
        if _fits(wanted[0], words[at])
    )


def _fits(wanted: str, word: str) -> bool:
    """Whether a word is the one that is wanted, with at least a character for each gap."""
    first, *others = wanted.split(_GAP)
    if not others:
        return wanted == word
    *between, last = others
    if not word.startswith(first) or not word.endswith(last):
        return False
    at, end = len(first), len(word) - len(last)
    for literal in between:
        at = word.find(literal, at + 1, end)
        if at < 0:
            return False
        at += len(literal)
    return at < end

"""Noise reduction: what a ticket and its discussion say of the fault, in few words.

Without a model: marks that change from one occurrence to the next go, sentences of courtesy and of
log headers too, and of what is left the sentences that hold most of what the others speak of.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from services.language.names import alert_names, error_codes
from services.language.sentences import sentences
from services.language.words import tokenise

MOST_WORDS = 120
"""About what the embedder reads of a text."""
_READ_CHARACTERS = 20_000

_FLEETING = re.compile(
    r"\(?https?://\S+"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s+(?:\d{4}\s+)?\d\d:\d\d:\d\d"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+|/\d+)?\b"
    r"|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"
    r"|\b[0-9a-f]{16,}\b",
    re.IGNORECASE,
)
"""Addresses, identifiers, dates and times."""
_COURTESY = re.compile(
    r"^\W*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|thanks?|thank you|cheers|regards"
    r"|best regards|kind regards|sincerely|many thanks|\+1|any updates?|bump|ping|please advise"
    r"|sent from my)\b[^.!?]{0,60}[.!?,]*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"^\s*(?:>|\|\s|on .{0,80} wrote:\s*$)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


def reduce_noise(title: str, discussion: str = "", *, most_words: int = MOST_WORDS) -> str:
    """The title and the most telling sentences of the discussion, in their order.

    A text without a title begins with its first sentence, which is kept as a title is. A text of
    nothing but noise stays as it is.
    """
    said = list(dict.fromkeys(_said(discussion[:_READ_CHARACTERS])))
    head = _plain(title)
    if not head and said:
        head, said = said[0], said[1:]
    head = " ".join(head.split()[:most_words])
    left = most_words - len(head.split())
    chosen = _chosen(head, [sentence for sentence in said if sentence != head], left)
    return "\n".join([head, *chosen]).strip() or _first_words(f"{title} {discussion}", most_words)


def _first_words(text: str, most: int) -> str:
    return " ".join(text[:_READ_CHARACTERS].split()[:most])


def _said(discussion: str) -> list[str]:
    lines = (line for line in discussion.splitlines() if not _QUOTED.match(line))
    found = (_plain(sentence) for line in lines for sentence in sentences(line) or [line])
    return [sentence for sentence in found if sentence and not _COURTESY.match(sentence)]


def _plain(text: str) -> str:
    return _SPACES.sub(" ", _FLEETING.sub(" ", text)).strip()


def _chosen(head: str, said: Sequence[str], words: int) -> list[str]:
    """The best sentences that fit, each time the one that adds most to what is chosen."""
    if sum(len(sentence.split()) for sentence in said) <= words:
        return list(said)
    terms = [Counter(tokenise(sentence)) for sentence in said]
    common = Counter(term for found in terms for term in found)
    known, chosen, open_ = set(tokenise(head)), list[int](), set(range(len(said)))
    weight = {term: math.log1p(number) for term, number in common.items()}
    while open_:
        best = max(sorted(open_), key=lambda at: _worth(terms[at], weight, known, said[at]))
        open_.remove(best)
        words -= len(said[best].split())
        if words < 0:
            break
        chosen.append(best)
        known |= terms[best].keys()
    return [said[at] for at in sorted(chosen)]


def _worth(terms: Counter[str], weight: dict[str, float], known: set[str], sentence: str) -> float:
    """What a sentence tells that is new, per word; names and codes of errors count double."""
    if not terms:
        return 0.0
    new = sum(weight[term] for term in terms if term not in known)
    names = len(error_codes(sentence)) + len(alert_names(sentence))
    return (new + names) / (len(terms) + 3)

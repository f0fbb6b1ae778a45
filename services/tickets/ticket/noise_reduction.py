"""Noise reduction: the few words of a ticket and its discussion that describe the fault.

No model is used: values that change from one occurrence to the next, courtesies and log headers
are removed, and of the rest the sentences are kept that hold most of what the others speak of.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from services.language.names import alert_names, error_codes
from services.language.sentences import sentences
from services.language.words import tokenise

MOST_WORDS = 120
"""Most words that are kept: about what the embedder reads of a text."""
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
"""Pattern of addresses, identifiers, dates and times."""
_COURTESY = re.compile(
    r"^\W*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|thanks?|thank you|cheers|regards"
    r"|best regards|kind regards|sincerely|many thanks|\+1|any updates?|bump|ping|please advise"
    r"|sent from my)\b[^.!?]{0,60}[.!?,]*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"^\s*(?:>|\|\s|on .{0,80} wrote:\s*$)", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


def reduce_noise(title: str, discussion: str = "", *, most_words: int = MOST_WORDS) -> str:
    """Return the title and the most telling sentences of the discussion, in their order.

    A text without a title begins with its first sentence, which is kept as a title is. A text of
    nothing but noise stays as it is.
    """
    lines = [line for line in discussion[:_READ_CHARACTERS].splitlines() if not _QUOTED.match(line)]
    cleaned = (_plain(sentence) for line in lines for sentence in sentences(line) or [line])
    candidates = list(dict.fromkeys(each for each in cleaned if each and not _COURTESY.match(each)))
    head = _plain(title)
    if not head and candidates:
        head, candidates = candidates[0], candidates[1:]
    head = " ".join(head.split()[:most_words])
    left = most_words - len(head.split())
    chosen = _choose(head, [sentence for sentence in candidates if sentence != head], left)
    unchanged = f"{title} {discussion}"[:_READ_CHARACTERS].split()[:most_words]
    return "\n".join([head, *chosen]).strip() or " ".join(unchanged)


def _plain(text: str) -> str:
    return _SPACES.sub(" ", _FLEETING.sub(" ", text)).strip()


def _choose(head: str, candidates: Sequence[str], words: int) -> list[str]:
    """Choose sentences that fit, greedily by what each adds to those chosen before."""
    if sum(len(sentence.split()) for sentence in candidates) <= words:
        return list(candidates)
    terms = [Counter(tokenise(sentence)) for sentence in candidates]
    common = Counter(term for counts in terms for term in counts)
    covered, chosen, open_ = set(tokenise(head)), list[int](), set(range(len(candidates)))
    weight = {term: math.log1p(number) for term, number in common.items()}
    while open_:
        best = max(sorted(open_), key=lambda at: _gain(terms[at], weight, covered, candidates[at]))
        open_.remove(best)
        words -= len(candidates[best].split())
        if words < 0:
            break
        chosen.append(best)
        covered |= terms[best].keys()
    return [candidates[at] for at in sorted(chosen)]


def _gain(terms: Counter[str], weight: dict[str, float], covered: set[str], sentence: str) -> float:
    """Return the new terms of a sentence per word; names and error codes count double."""
    if not terms:
        return 0.0
    new = sum(weight[term] for term in terms if term not in covered)
    names = len(error_codes(sentence)) + len(alert_names(sentence))
    return (new + names) / (len(terms) + 3)

"""What a text says of the state of things, and what an answer answers, by general English."""

import math
import re
from functools import lru_cache

from services.knowledge.embedding.bm25 import stem_word
from services.scorer.criteria.wording import words_of


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in words.split())


_FAULTY = _stems(
    """expired missing fail failure error blocked stale wrong invalid unknown unhealthy down full
    exceeded exhausted saturated throttled timeout slow stuck leak crash crashing loop oom killed
    evicted pending denied refused rejected unreachable unavailable mismatch incorrect bad broken
    corrupt conflict duplicate deleted removed lost loss high low empty zero unsupported deprecated
    misconfigured unschedulable cordoned tainted degraded lagging overloaded overload pressure
    flapping dropped disabled disconnected restarting unbound orphaned terminating lacks absent old
    large hot typo drift skew suspended paused problem issue fault alarm hung abnormal unexpected
    offline dead growing spike wait leftover conflicting malformed truncated forbidden unauthorized
    above below over under exceeding too still already longer stopped mismatched"""
)
_FINE = _stems(
    """ready healthy present current match correct valid exist include running available reachable
    up allow succeed success enabled configured ok working work resolve connected bound complete
    enough sufficient fit supported installed trusted listening sync consistent equal normal stable
    active assigned responding fresh intact granted permitted schedulable registered signed pass
    passed good right expected set has have contain defined open online cleared fixed reports
    shows returns mounted agree aligned identical within"""
)
_WEAK = _stems("set has have contain over under still already open shows returns reports too")
_NEGATING = "not no cannot never without isn doesn aren non unable un nothing none t"
_NEGATIONS = frozenset(_NEGATING.split())
_YES = re.compile(r"(?:yes|y|true|ok|pass(?:ed|es)?|success(?:ful)?|fine|correct)\b", re.IGNORECASE)
_NO = re.compile(r"(?:no|n|false|fail(?:ed|s|ure)?|not|none|otherwise|else)\b", re.IGNORECASE)


@lru_cache(maxsize=16384)
def polarity(text: str) -> float:
    """The state of things that a text states: 1 fine, -1 faulty; its last words weigh most."""
    score, negated, words = 0.0, False, words_of(text)
    for place, word in enumerate(words):
        if word in _NEGATIONS:
            negated = True
            continue
        value = _value(word) * (0.5 + (place + 1) / len(words))
        score += -value if negated else value
        negated = negated and not value
    if negated:
        score -= 1.0
    return math.tanh(score) if score else _UNSAID


_UNSAID = 0.25
"""A question without a telling word asks for what should be so, more often than not."""


def names_fault(text: str) -> bool:
    """Whether any of its words is one of things that fail."""
    return any(stem_word(word) in _FAULTY for word in words_of(text))


def negates(text: str) -> bool:
    """Whether it says no or not."""
    return any(word in _NEGATIONS for word in words_of(text))


def _value(word: str) -> float:
    stem = stem_word(word)
    value = float(stem in _FINE) - float(stem in _FAULTY)
    return value / 3 if stem in _WEAK else value


def answer_of(condition: str) -> float:
    """1 for yes, -1 for no, 0 for an answer in other words."""
    if _YES.match(condition.strip()):
        return 1.0
    return -1.0 if _NO.match(condition.strip()) else 0.0

"""Whether a question can be put to a person as it stands, and whether it is theirs to decide.

A page's clause is turned into a question by rules, which fail where its grammar is unusual. What is
doubted here is asked in the clause's own words, so a doubt costs little and a miss is read aloud.
"""

import re
from collections.abc import Collection
from itertools import pairwise

from services.language.lexicon import words
from services.language.questions import is_question, states
from services.language.sentences import instruction
from services.language.verbs import (
    base_of_participle,
    base_of_third,
    begins_with_verb,
    is_base_form,
)

LONGEST_QUESTION = 200
"""Characters that are read at a glance."""

_ASKS = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|which|what|who|where|when|how)\b",
    re.IGNORECASE,
)
_ASKS_WHICH = re.compile(r"(?:which|what|who|where|when|how)\b", re.IGNORECASE)
_MARKUP = re.compile(
    r"[{}<>|\[\]`\\#$=…*]|(?<!\w)_|_(?!\w)|\.\.\.|https?:|:\s|/\w*$|\d\)|\(\s*[^\w\s]"
)
_PAIRS = (("(", ")"), ("“", "”"))
_NOT = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|cannot|without)\b|n['’]t\b", re.IGNORECASE
)
_POINTS = re.compile(
    r"\b(?:the|these|those|this) (?:following|below|above|former|latter)\b"
    r"|\b(?:following|below|above|previous) (?:\w+ )?(?:errors?|commands?|messages?|steps?|output"
    r"|results?|section|example|table|list)\b"
    r"|\bthe (?:errors?|messages?|output|commands?|steps?|results?)\W*$"
    r"|\b(?:below|above|follows|following|here|so|one)\W*$"
    r"|\b(?:of|one of|any of|none of) (?:these|those|them)\b|\b(?:see|refer to|option) "
    r"|\bthis (?:needs|has|is|was)\b",
    re.IGNORECASE,
)
"""It speaks of what stands elsewhere on the page."""
_POINTING = words("words", "pointing")
_DANGLES = (words("words", "leading_on") - words("words", "pointing")) | frozenset(
    {"via", "using", "when", "whether", "how", "its", "their"}
)
_LEFT_OVER = re.compile(
    r"\b(?:by|via|after|before|when|while|without|through|using|you can|you may) \w+(?:ing)?\W*$"
    r"|\b(?:can|may|must|should|will) (?:use|run|do|try)\W*$",
    re.IGNORECASE,
)
"""`by running`: what was run stood behind it."""
_BEFORE_NOUN = frozenset({"the", "a", "an", "any", "all", "your", "each", "every", "this"})
_SINGULAR = frozenset({"is", "was", "does", "has"})
_PLURAL = frozenset({"are", "were", "do", "have"})
_DOES = frozenset({"does", "do", "did", "can", "could", "will"})
_HAS = frozenset({"has", "have", "had"})
_OF_MANY = frozenset({"you", "we", "there", "any", "all", "both", "multiple", "several", "people"})
_FINITE = frozenset({"is", "are", "was", "were", "has", "have", "does", "do"})
_SECOND = re.compile(
    r"\band (?:that|it|they|there|is|are|was|were|has|have|does|do|(?:still|also|then) \w+s)\b",
    re.IGNORECASE,
)
"""A second clause that does not ask as the first one does."""
_MOMENTS = frozenset({"after", "before", "when", "while", "during", "until", "once"})
_MAY = re.compile(r"\b(?:may|might|could|would)\b", re.IGNORECASE)
"""What may be so is told of the page's world, and is no state that is seen."""
_JOINS = words("words", "relatives") | frozenset({"if", "whether", "and", "or", "because", "but"})
_ENDS_SUBJECT = words("words", "behind_subjects") | _JOINS


_FOR_A_PERSON = re.compile(
    r"\b(?:want|wants|wanted|wish|wishes|prefer|prefers|would (?:\w+ )?like"
    r"|comfortable|willing|happy to|consent|consents|agree|agrees|intend|intends|intentional"
    r"|intentionally|deliberate|deliberately|on purpose|decided|choose|chose|chosen to|opted|opt"
    r"|plan to|plans to|planning"
    r"|risks?|risky|acceptable|tolerable|tolerate|afford|worth|worthwhile|advisable|appropriate"
    r"|suitable|confident|sure|unsure|uncertain|unclear|certain (?:that|of)|desirable|feel|feels"
    r"|think|believe|suspect|suspects|reasonable|safe to|ok to|okay to|fine to|feasible|prudent"
    r"|data loss|preferences?|tech(?:nology)? preview)\b"
    r"|\b(?:should|shall|must|ought|need to|needs to|needed to|has to|have to|had to)\b"
    r"|\b(?:is|are|was|were|be) (?:to be|supposed|obliged|recommended|advised)\b"
    r"|\b(?:(?:un)?necessary|required|needed|mandatory|optional|wanted|recommended|warranted"
    r"|urgent|justified|desired|intended|preferred)"
    r"(?=\W*$|\s(?:to|for|by|that|in order|because|when|if)\b)"
    r"|\b(?:may|might|can) (?:i|we) \w|\b(?:do|does|did) (?:you|we|they) (?:need|require|like)\b"
    r"|\b(?:you|we|they|there is a|is there a|any) (?:need|require)\b|\bneeds? \w+(?:ing|ed)\b"
    r"|\b(?:you|we|it|anyone)\b[^,]{0,60}\b(?:permission|allowed|permitted|authori[sz]ed|accept)\b"
    r"|\b(?:have|has|had|got|obtained|given) (?:\w+ )?(?:approval|permission)\b(?! to (?:list|read"
    r"|get|watch|write|create))|\bapproved by\b",
    re.IGNORECASE,
)
"""What nobody can look up: consent, permission, risk, wishes, opinions, obligations."""


def is_for_a_person(text: str) -> bool:
    """Whether it is decided and not found out: `Do you want to keep the data?`."""
    return _FOR_A_PERSON.search(text) is not None


def names_something(text: str) -> bool:
    """Whether it says what it is about: `Is the issue resolved?` fits every page and none."""
    kept = (word.strip("?.,;:'\"“”()") for word in text.split())
    of_any = words("words", "not_searched") | words("words", "of_any_fault")
    return any(word and word.lower() not in of_any for word in kept)


def is_negated(text: str) -> bool:
    """Whether it says or asks that something is not so: then Yes and No are easily mixed up."""
    return _NOT.search(text) is not None


def is_well_asked(text: str) -> bool:
    """Whether it is a whole question in good order that is understood without its page."""
    said = " ".join(text.split())
    if not said.endswith("?") or len(said) > LONGEST_QUESTION or not _ASKS.match(said):
        return False
    if _is_left_over(said[:-1]) or not names_something(said):
        return False
    tokens = [token.strip(",;\"'“”()") for token in said[:-1].split()]
    if len(tokens) < 3 or tokens[1].lower() in _POINTING - {"there"}:
        return False
    if _ASKS_WHICH.match(said):
        return any(token.lower() in _FINITE | _DOES or _is_verb(token) for token in tokens[1:])
    return _agrees(tokens)


def is_whole(clause: str) -> bool:
    """Whether it is a statement, with subject and verb, that is understood without its page."""
    said = " ".join(clause.split()).rstrip(".")
    if not said or len(said) > LONGEST_QUESTION or is_question(said) or _is_left_over(said):
        return False
    first = said.split()[0].strip(",\"'“”(").lower()
    if (
        re.search(r"\band that\b", said)
        or first in _POINTING
        or first in _JOINS
        or first in words("words", "before_subjects")
    ):
        return False
    is_stated = states(said) and not _MAY.search(said) and not first.endswith(("ing", "ed"))
    return is_stated and not instruction(said) and names_something(said)


def is_whole_name(name: str, *, least: int = 2) -> bool:
    """Whether it names a case or a value in whole words, at least so many, without markup."""
    said = " ".join(name.split())
    is_short = least <= len(said.split()) and len(said) <= LONGEST_QUESTION
    is_deed = begins_with_verb(said) or said.split()[0].lower().endswith("ing") if said else False
    is_told = not is_deed and not _is_left_over(said) and not is_for_a_person(said)
    return is_short and is_told and (least == 1 or names_something(said))


def _is_left_over(said: str) -> bool:
    """Whether markup, an open end, or a pointer to elsewhere on the page is in it."""
    is_open = any(said.count(a) != said.count(b) for a, b in _PAIRS) or said.count('"') % 2 == 1
    last = said.rsplit(maxsplit=1)[-1].strip(".,;:").lower()
    dangles = last in _DANGLES or said[-1:] in ",;:-–—("
    return bool(
        is_open
        or dangles
        or _MARKUP.search(said)
        or _POINTS.search(said)
        or _LEFT_OVER.search(said)
        or _is_two(said)
    )


def _is_two(said: str) -> bool:
    """Whether a second clause hangs behind a comma: `the pod is down, restart it`."""
    for part in re.split(r"[,;]\s+", said)[1:]:
        first = part.split()[0].lower() if part.split() else ""
        if first in _POINTING | words("words", "pronouns") | {"then", "so", "please", "which"}:
            return True
        if first not in {"and", "or"} and (is_base_form(first) or instruction(part)):
            return True
    return False


def _agrees(tokens: list[str]) -> bool:
    """Of a yes-or-no question: whether its subject and its verb fit what it begins with."""
    asks = tokens[0].lower()
    rest = tokens[1:]
    subject = _subject(rest)
    if not subject or subject[0][:1] in "(/-":
        return False
    if asks in _DOES:
        verbs = [n for n, each in enumerate(rest) if n and _is_base(each)]
        place = next((n for n in verbs if n + 1 not in verbs), 0) or _unknown_verb(rest)
        if rest[0].lower() in words("words", "pronouns") and 1 in verbs:
            place = 1
        if not place or any(each.lower() in _MOMENTS for each in rest[:place]):
            return False
        subject = rest[:place][: len(subject)] or subject
    elif asks in _HAS and not any(map(_is_participle, rest)):
        return False
    fits = _fits_number(asks, subject, is_cut=len(subject) < len(rest))
    return fits and not _has_second(rest, _FINITE - {"have", "do"} if asks in _DOES else _FINITE)


def _unknown_verb(rest: list[str]) -> int:
    """Where a verb of no list stands, by what comes behind it: `the rotor grinds loudly`."""
    first = 2 if rest[0].lower() in _BEFORE_NOUN else 1
    after = ((n, each.lower()) for n, each in enumerate(rest) if n > first)
    ends = (n for n, word in after if word in _ENDS_SUBJECT | _BEFORE_NOUN or word.endswith("ly"))
    return next(ends, 1) - 1


def _subject(rest: list[str]) -> list[str]:
    """The words in front of what is said of it, as far as that can be told by their forms."""
    found: list[str] = []
    for token in rest:
        word = token.lower()
        says = _is_participle(token) or word.endswith("ing")
        is_of_noun = not found or found[-1].lower() in _BEFORE_NOUN
        if found and (word in _ENDS_SUBJECT or (says and not is_of_noun)):
            break
        found.append(token)
    return found


def _fits_number(asks: str, subject: list[str], *, is_cut: bool) -> bool:
    one, many = subject[0].lower(), any(map(_is_plural, subject))
    if one == "you":
        return asks not in _SINGULAR
    if asks in _PLURAL:
        return many or one in _OF_MANY or any(each.lower() in _OF_MANY for each in subject)
    if asks in _SINGULAR and is_cut:
        return not _is_plural(subject[-1]) and one not in _OF_MANY - {"there", "any"}
    return True


def _is_plural(token: str) -> bool:
    word = token.rstrip("s") if token.isupper() else token.lower()
    is_short = len(word) < 3 or token.isupper()
    return not is_short and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s", "’s"))


def _has_second(rest: list[str], finite: Collection[str]) -> bool:
    """Whether a second verb stands in it without anything that joins it: `Is this points to`."""
    said = [each.lower() for each in rest]
    if _SECOND.search(" ".join(said)):
        return True
    for place, (before, word) in enumerate(pairwise(said), start=1):
        joined = any(each in _JOINS | _MOMENTS for each in said[:place])
        if word in finite and not joined and before not in _DOES:
            return True
    return False


def _is_participle(token: str) -> bool:
    word = token.lower()
    return word.endswith("ed") or word == "been" or bool(base_of_participle(word))


def _is_base(token: str) -> bool:
    word = token.lower()
    return is_base_form(word) or word == "have" or bool(base_of_third(f"{word}s") == word)


def _is_verb(token: str) -> bool:
    return bool(base_of_third(token.lower()) or base_of_participle(token.lower()))

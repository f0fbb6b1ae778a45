"""Checks of whether a question can be put to a person as it is, and is theirs to decide.

A page's clause is turned into a question by rules, which fail where its grammar is unusual. A
question that is doubted here is asked in the clause's own words: a false doubt costs little,
while a bad question that passes is read by a person.
"""

import re
from collections.abc import Collection
from itertools import pairwise

from services.language.questions import is_question, is_statement
from services.language.sentences import parse_instruction
from services.language.verbs import (
    base_of_participle,
    base_of_third,
    begins_with_verb,
    is_base_form,
)
from services.language.words import words

LONGEST_QUESTION = 200
"""Characters that can be read at a glance."""

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
"""Phrases that refer to another place of the page."""
_POINTING = words("words", "pointing")
_DANGLES = (words("words", "leading_on") - words("words", "pointing")) | frozenset(
    {"via", "using", "when", "whether", "how", "its", "their"}
)
_LEFT_OVER = re.compile(
    r"\b(?:by|via|after|before|when|while|without|through|using|you can|you may) \w+(?:ing)?\W*$"
    r"|\b(?:can|may|must|should|will) (?:use|run|do|try)\W*$",
    re.IGNORECASE,
)
"""Endings that lost their object, such as `by running`."""
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
"""Modal verbs of possibility: such a clause states no condition that can be observed."""
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
"""Words of consent, permission, risk, wishes, opinions and obligations: not to be looked up."""


def is_for_a_person(text: str) -> bool:
    """Return True if the text is a matter of decision: `Do you want to keep the data?`."""
    return _FOR_A_PERSON.search(text) is not None


def names_something(text: str) -> bool:
    """Return True if the text names a subject of its own.

    `Is the issue resolved?` does not: it fits every page.
    """
    kept = (word.strip("?.,;:'\"“”()") for word in text.split())
    of_any = words("words", "not_searched") | words("words", "of_any_fault")
    return any(word and word.lower() not in of_any for word in kept)


def is_negated(text: str) -> bool:
    """Return True if the text states or asks a negation, so that Yes and No are easily mixed up."""
    return _NOT.search(text) is not None


def is_well_formed(text: str) -> bool:
    """Return True if the text is a well-formed question that is understood without its page."""
    text_line = " ".join(text.split())
    if (
        not text_line.endswith("?")
        or len(text_line) > LONGEST_QUESTION
        or not _ASKS.match(text_line)
    ):
        return False
    if _is_fragment(text_line[:-1]) or not names_something(text_line):
        return False
    tokens = [token.strip(",;\"'“”()") for token in text_line[:-1].split()]
    if len(tokens) < 3 or tokens[1].lower() in _POINTING - {"there"}:
        return False
    if _ASKS_WHICH.match(text_line):
        lowered = [token.lower() for token in tokens[1:]]
        return any(
            word in _FINITE | _DOES or base_of_third(word) or base_of_participle(word)
            for word in lowered
        )
    return _has_agreement(tokens)


def is_complete_statement(clause: str) -> bool:
    """Return True if the clause is a statement that is understood without its page.

    It has a subject and a verb, and neither asks nor instructs.
    """
    clause_line = " ".join(clause.split()).rstrip(".")
    if (
        not clause_line
        or len(clause_line) > LONGEST_QUESTION
        or is_question(clause_line)
        or _is_fragment(clause_line)
    ):
        return False
    first = clause_line.split()[0].strip(",\"'“”(").lower()
    if (
        re.search(r"\band that\b", clause_line)
        or first in _POINTING
        or first in _JOINS
        or first in words("words", "before_subjects")
    ):
        return False
    is_stated = (
        is_statement(clause_line)
        and not _MAY.search(clause_line)
        and not first.endswith(("ing", "ed"))
    )
    return is_stated and not parse_instruction(clause_line) and names_something(clause_line)


def is_complete_name(name: str, *, least: int = 2) -> bool:
    """Return True if the name of a case or value is in whole words, `least` or more, no markup."""
    name_line = " ".join(name.split())
    is_short = least <= len(name_line.split()) and len(name_line) <= LONGEST_QUESTION
    is_deed = (
        begins_with_verb(name_line) or name_line.split()[0].lower().endswith("ing")
        if name_line
        else False
    )
    is_nameable = not is_deed and not _is_fragment(name_line) and not is_for_a_person(name_line)
    return is_short and is_nameable and (least == 1 or names_something(name_line))


def _is_fragment(text: str) -> bool:
    """Return True if the text has markup, an open end, or a reference to elsewhere on the page."""
    is_open = any(text.count(a) != text.count(b) for a, b in _PAIRS) or text.count('"') % 2 == 1
    last = text.rsplit(maxsplit=1)[-1].strip(".,;:").lower()
    dangles = last in _DANGLES or text[-1:] in ",;:-–—("
    return bool(
        is_open
        or dangles
        or _MARKUP.search(text)
        or _POINTS.search(text)
        or _LEFT_OVER.search(text)
        or _has_second_clause(text)
    )


def _has_second_clause(text: str) -> bool:
    """Return True if a second clause follows a comma: `the pod is down, restart it`."""
    for part in re.split(r"[,;]\s+", text)[1:]:
        first = part.split()[0].lower() if part.split() else ""
        if first in _POINTING | words("words", "pronouns") | {"then", "so", "please", "which"}:
            return True
        if first not in {"and", "or"} and (is_base_form(first) or parse_instruction(part)):
            return True
    return False


def _has_agreement(tokens: list[str]) -> bool:
    """Return True if subject and verb of a yes-or-no question agree with its first word."""
    asks = tokens[0].lower()
    rest = tokens[1:]
    subject = _subject(rest)
    if not subject or subject[0][:1] in "(/-":
        return False
    if asks in _DOES:
        lowered = [each.lower() for each in rest]
        verbs = [
            n
            for n, word in enumerate(lowered)
            if n and (is_base_form(word) or word == "have" or base_of_third(f"{word}s") == word)
        ]
        place = next((n for n in verbs if n + 1 not in verbs), 0) or _unknown_verb(rest)
        if rest[0].lower() in words("words", "pronouns") and 1 in verbs:
            place = 1
        if not place or any(each.lower() in _MOMENTS for each in rest[:place]):
            return False
        subject = rest[:place][: len(subject)] or subject
    elif asks in _HAS and not any(map(_is_participle, rest)):
        return False
    fits = _fits_number(asks, subject, is_cut=len(subject) < len(rest))
    return fits and not _has_second_verb(
        rest, _FINITE - {"have", "do"} if asks in _DOES else _FINITE
    )


def _unknown_verb(rest: list[str]) -> int:
    """Return the index of an unlisted verb, by the words after it: `the rotor grinds loudly`."""
    first = 2 if rest[0].lower() in _BEFORE_NOUN else 1
    after = ((n, each.lower()) for n, each in enumerate(rest) if n > first)
    ends = (n for n, word in after if word in _ENDS_SUBJECT | _BEFORE_NOUN or word.endswith("ly"))
    return next(ends, 1) - 1


def _subject(rest: list[str]) -> list[str]:
    """Return the words of the subject, as far as their forms show where it ends."""
    subject: list[str] = []
    for token in rest:
        word = token.lower()
        says = _is_participle(token) or word.endswith("ing")
        is_of_noun = not subject or subject[-1].lower() in _BEFORE_NOUN
        if subject and (word in _ENDS_SUBJECT or (says and not is_of_noun)):
            break
        subject.append(token)
    return subject


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


def _has_second_verb(rest: list[str], finite: Collection[str]) -> bool:
    """Return True if a second verb follows without a conjunction: `Is this points to`."""
    lowered = [each.lower() for each in rest]
    if _SECOND.search(" ".join(lowered)):
        return True
    for place, (before, word) in enumerate(pairwise(lowered), start=1):
        joined = any(each in _JOINS | _MOMENTS for each in lowered[:place])
        if word in finite and not joined and before not in _DOES:
            return True
    return False


def _is_participle(token: str) -> bool:
    word = token.lower()
    return word.endswith("ed") or word == "been" or bool(base_of_participle(word))

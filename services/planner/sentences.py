"""English of operation documents: sentences, their shortening, questions and conditions in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.knowledge.document.roles import role_of_label
from services.knowledge.imperative import begins_with_verb

_SENTENCE_END = re.compile(
    r"(?<![eE]\.g\.)(?<![iI]\.e\.)(?<!etc\.)(?<!vs\.)(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'`(\[<])"
)
_PARENTHESES = re.compile(r"\s*\((?![^()]*\)\?)[^()]*\)")
_SIDE_REMARK = re.compile(
    r"[;:]\s|\s[—–-]\s|\.\s|\s(?:so that|so|because|which|until)\s"
    r"|,\s(?:so|then|which|because|since|e\.g\.|for example|such as)\s"
)
_LIMITS = re.compile(
    r"\b(?:unless|only (?:if|when|after)|except|never|do not|don't|must not)\b", re.IGNORECASE
)
_PREFIX = re.compile(
    r"^(?:\([^()]{1,24}#\s*\)\s*|\[(?:required|optional)\]\s*|(?:step|phase)\s+\w{1,3}\s*[:.)–—-]\s*"
    r"|\d{1,2}[.)]\s+|(?:please|next|then|now|first|finally|also|note that)[,:]?\s+"
    r"|(?:disruptive|warning|caution|important|note|optional)\b[^:—–]{0,30}[:—–]\s*"
    r"|you\s+(?:can|must|should|may|need to|will need to)\s+(?:also\s+)?"
    r"|(?:when|once|after)\s+(?:(?:this|that|it|you)\s+(?:is|are)\s+)?(?:done|finished|completed?),?\s+"
    r"|(?:afterwards?|after that),?\s+"
    r"|it is (?:recommended|necessary|required) to\s+)+",
    re.IGNORECASE,
)
_CHECK_VERB = (
    r"(?:check|verify|confirm|ensure|make sure|validate|test|determine|see|find out|assess|ask"
    r"|decide|establish)"
)
_CHECK_THAT = re.compile(
    rf"^{_CHECK_VERB}\s+(?:that|if|whether)\s+(?:or not\s+)?(?P<what>.+)$", re.IGNORECASE
)
_CONDITION = re.compile(
    r"^(?P<word>if|when|in case(?: of)?|should|where|once|only if)\s+"
    r"(?P<condition>(?:[^,:]|,(?=\d)){2,160}"
    r"(?:,\s+(?:and|or|but)\s+[^,:]{3,100})?)(?:,\s*(?:then\s+)?|\s+then\s+|:\s+)(?P<action>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_ANSWER = re.compile(
    r"^(?P<question>[^?]{6,160}\?)\s+(?:(?:if\s+)?yes|if\s+so)[,:]?\s+(?P<yes>.+?)"
    r"(?:[.;,]\s+(?:if\s+not?[,:]|no[,:]|(?:otherwise|else)[,:]?)\s+(?P<no>.+))?$",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_ANSWERED_NO = re.compile(
    r"^(?P<question>[^?]{6,160}\?)(?P<yes>)\s+(?:if\s+not?|no)[,:]\s+(?P<no>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_OTHERWISE = re.compile(
    r"^(?:(?:otherwise|else)[,:]?|(?:if not|if no|if this is not the case"
    r"|if it (?:is|does|has) not)[,:])\s+(?P<action>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_ALTERNATIVE = re.compile(
    r"[,;]\s+(?:or\s+)?(?=(?:otherwise|else)\b|if (?:not|no)[,:])", re.IGNORECASE
)
_JUMP = re.compile(
    r"^(?P<before>.*?)(?:^|[,;]\s+(?:and\s+)?(?:then\s+)?|\s+(?:and|then)\s+(?:then\s+)?)"
    r"(?:go|proceed|continue|skip|return|jump|move|advance|start|resume|repeat)"
    r"(?:\s+(?:on|back|ahead|again|over|forward|directly|straight))?(?:\s+(?:to|with|at|from))?"
    r"\s+[\"'“]?step\s+(?P<number>\d{1,2})\b(?!\.\d)"
    r"\s*(?:\([^()]*\)|:\s+[^,.;:]{1,60}|above|below|again)?[\s.\"'”]*$",
    re.IGNORECASE | re.DOTALL,
)
_HEDGED = re.compile(
    r"\b(?:if|unless|when(?:ever)?|in case|in which case|otherwise|else)\b", re.IGNORECASE
)
"""What makes a jump at the end of a sentence one of several ways to go on."""
_CONDITIONAL_JUMP = re.compile(
    r"^(?:if|when|in case|where)\s+(?P<condition>[^,:]{2,160}?)(?:\s+then)?\s+(?P<action>"
    r"(?:go|proceed|continue|skip|return|jump)\s+(?:\w+\s+){0,2}[\"'“]?step\s+\d.*)$",
    re.IGNORECASE | re.DOTALL,
)
_INNER_CONDITION = re.compile(r"(?:[;,]|\s[—–-])\s+(?:and\s+|but\s+)?(?=if\s)", re.IGNORECASE)
_LONGEST_SENTENCE = 1000
"""Characters; a longer one is none, and looking for conditions in it takes long."""
_SAID_ANSWER = re.compile(r"^(?:(?:if\s+)?yes|if\s+so|if\s+not?|no)\s*[,:]\s", re.IGNORECASE)
_NEXT_CLAUSE = re.compile(
    rf"(?:,\s*(?:and\s+)?then\s+|;\s+(?:then\s+)?|,?\s+and\s+(?:then\s+)?(?={_CHECK_VERB}\b)"
    rf"|,\s+(?={_CHECK_VERB}\b)|\s[—–]\s)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:(?:this|that|it|there)\s+(?:is|are|was)\s+|the\s+|an?\s+|this\s+|these\s+)+",
    re.IGNORECASE,
)
_LEADS_ON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be because but by can could for from had has have if in into is it its"
        " may must no not of on or over per shall should so such than that the their them then"
        " there these this those to under until was were when where which while will with within"
        " without would",
    )
)
"""Words that do not end a phrase."""
_POINTS_BACK = re.compile(
    r"^(?:so|not|yes|no|this|that|it|they|necessary|needed|required|possible|applicable|desired"
    r"|(?:this|that|it) (?:is|was|does)(?: not)?(?: the case| so| true| possible| work| needed)?)$",
    re.IGNORECASE,
)
"""A condition that says nothing without the sentence before it."""
_OPTION_OR_PATH = re.compile(r"--?[A-Za-z]|\.{0,2}/\w")
_ENDS_PATH = re.compile(
    r"^(?:close the (?:ticket|incident|case|alert)|no (?:further )?actions? (?:is |are )?(?:needed"
    r"|required|necessary)|(?:you are|we are|it is) done\b|done$|stop here|do not (?:proceed"
    r"|continue|go on)|escalate\b|hand over\b|(?:contact|call|page)\b.{0,40}\b(?:support|team"
    r"|vendor|on-call)\b|open an? (?:\w+ )?(?:case|ticket)\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:continue|go on|carry on|proceed|read on|move on)(?:\s+(?:here|below|as usual|reading))?"
    r"|(?:(?:continue|go|proceed|move|carry)\s+(?:on\s+)?(?:with|to)\s+)?(?:the\s+)?"
    r"(?:(?:next|following)\s+(?:steps?|section|check|item)|steps?\s+below|rest|this\s+page)",
    re.IGNORECASE,
)
_CAUSE_PREFIX = re.compile(
    r"^(?:(?:possible |likely |root )?causes?:\s*|because\s+|due to\s+|caused by\s+)", re.IGNORECASE
)


@dataclass(frozen=True)
class Condition:
    """`If condition, action; otherwise alternative`."""

    condition: str
    action: str
    alternative: str = ""

    @property
    def told(self) -> str:
        """What to do in the first case that something is told for."""
        return self.action or self.alternative


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, trimmed; none is empty."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip(" .")]


def lead(text: str, *, words: int = 32) -> str:
    """The first sentence without numbering and prompts, cut at a clause when it is too long."""
    parts = sentences(text)
    first = tidy(parts[0]) if parts else ""
    if len(first.split()) > words:
        first = shorten(first, words=words)
    return first


def tidy(sentence: str) -> str:
    """Without step numbers, prompts and polite openings; capitalised, no full stop or colon."""
    said = without_label(sentence.strip(" :"))
    bare = _PREFIX.sub("", said).strip() or said
    return capitalised(bare.rstrip(" .:;,"))


def without_label(text: str) -> str:
    """A paragraph without `Cause 2:` or the like before it."""
    label, colon, rest = text.partition(":")
    return rest.strip() if colon and rest.strip() and role_of_label(label) else text


def shorten(sentence: str, *, words: int) -> str:
    """The main clause: parentheses and side remarks go, and words beyond `words`.

    What says when not to do it is never cut off.
    """
    bare = _PARENTHESES.sub("", sentence.strip())
    clause = _first_words(_without_remarks(bare), words)
    said = bare if _LIMITS.search(bare, len(clause)) else clause
    return capitalised(said.rstrip(" .:;,"))


def _without_remarks(text: str) -> str:
    remarks = (text[: remark.start()] for remark in _SIDE_REMARK.finditer(text))
    return next((before for before in remarks if len(before.split()) > 1), text)


def _first_words(text: str, most: int) -> str:
    """At most so many words, none left hanging that only leads on to the next."""
    parts = text.split()
    if len(parts) <= most:
        return text
    parts = parts[:most]
    while len(parts) > 2 and (parts[-1].casefold() in _LEADS_ON or parts[-1] in "/&—–-"):
        parts.pop()
    return " ".join(parts)


def question(statement: str, *, words: int = 9) -> str:
    """A statement or a check as a short question that Yes or No answers."""
    text = tidy(_CAUSE_PREFIX.sub("", statement.strip()))
    if text.endswith("?"):
        return text
    asked = _CHECK_THAT.match(text)
    text = shorten(_ARTICLE.sub("", asked["what"] if asked else text), words=words)
    return capitalised(text.rstrip(" .:;,?")) + "?"


def condition(sentence: str, following: str = "") -> Condition | None:
    """The condition a sentence states; `following` may hold what to do otherwise."""
    text = _PREFIX.sub("", sentence.strip())
    asked = _QUESTION_ANSWER.match(text) or _QUESTION_ANSWERED_NO.match(text)
    if asked:
        return Condition(asked["question"], tidy(asked["yes"] or ""), tidy(asked["no"] or ""))
    stated = _CONDITIONAL_JUMP.match(text) or _CONDITION.match(text)
    if stated is None or _POINTS_BACK.match(stated["condition"].strip()):
        return None
    action, rest = _halves(stated["action"])
    rest = rest or following
    otherwise = _OTHERWISE.match(rest.strip())
    alternative = otherwise["action"] if otherwise else ""
    if not alternative and rest is not following:
        alternative = rest
    return Condition(stated["condition"].strip(), tidy(action), tidy(alternative))


def _halves(told: str) -> tuple[str, str]:
    """What to do, and what to do otherwise where the same sentence says it."""
    parts = _ALTERNATIVE.split(told, maxsplit=1)
    if len(parts) == 2:
        return parts[0], parts[1]
    action, _, rest = told.partition("; ")
    return (action, rest) if _CONDITION.match(rest) else (told, "")


def jump(text: str) -> tuple[str, int] | None:
    """What is told before `go to step 5`, and the 5; None where a text does not end in that.

    None also where it goes there only in some case: that is a condition, not a jump.
    """
    found = _JUMP.match(_PREFIX.sub("", " ".join(text.split())))
    if found is None or _HEDGED.search(found["before"]):
        return None
    return found["before"].strip(" ,;."), int(found["number"])


def joined(said: Sequence[str]) -> list[str]:
    """The sentences, each condition apart and with all that belongs to it.

    A question or a check is joined to its answers and a condition to the jump told next; a
    condition at the end of a sentence that leads to a jump stands alone.
    """
    found: list[str] = []
    for sentence in (part for each in said for part in _with_condition_apart(each)):
        whole = _together(found[-1], sentence) if found else ""
        if whole:
            found[-1] = whole
        else:
            found.append(sentence)
    return found


def _together(before: str, sentence: str) -> str:
    """Both as one sentence; empty where the second stands for itself."""
    if _answers(before, sentence):
        otherwise = _OTHERWISE.match(sentence)
        answer = f"If no, {otherwise['action']}" if otherwise else sentence
        asked = before if "?" in before else question(before, words=40)
        whole = f"{asked} {answer}"
        return whole if condition(whole) else ""
    leads = jump(sentence)
    if leads is None or leads[0] or not _awaits_jump(before):
        return ""
    told = _PREFIX.sub("", sentence)
    return f"{before.rstrip(' .')}, then {told[:1].lower()}{told[1:]}"


def _answers(before: str, sentence: str) -> bool:
    asks = len(before) <= _LONGEST_SENTENCE and ("?" in before or is_check(before))
    return asks and bool(_SAID_ANSWER.match(sentence) or _OTHERWISE.match(sentence))


def _awaits_jump(sentence: str) -> bool:
    stated = condition(sentence)
    return stated is not None and not stated.alternative and jump(stated.action) is None


def _with_condition_apart(sentence: str) -> tuple[str, ...]:
    is_whole = len(sentence) > _LONGEST_SENTENCE or condition(sentence)
    for place in () if is_whole else _INNER_CONDITION.finditer(sentence):
        before, after = sentence[: place.start()], sentence[place.end() :]
        stated = condition(after)
        if _answers(before, after) or (stated and jump(stated.action)):
            return before, after
    return (sentence,)


def clauses(text: str) -> list[str]:
    """Sentences cut where one goes on to another thing to do: `check A, then look at B`."""
    return [
        tidy(clause)
        for sentence in sentences(text)
        for clause in _NEXT_CLAUSE.split(sentence)
        if len(clause.split()) > 1
    ]


def is_otherwise(sentence: str) -> bool:
    """Whether the sentence is the other half of the condition before it."""
    return _OTHERWISE.match(sentence.strip()) is not None


def is_imperative(sentence: str) -> bool:
    """Whether the sentence tells somebody to do something."""
    return begins_with_verb(tidy(sentence))


def is_check(sentence: str) -> bool:
    """Whether the sentence asks to find out if something holds."""
    return _CHECK_THAT.match(tidy(sentence)) is not None


def ends_path(action: str) -> bool:
    """Whether the work is over, or somebody else's, once this is done."""
    return _ENDS_PATH.match(tidy(action)) is not None


def goes_on(action: str) -> bool:
    """Whether nothing is told but to read on."""
    return _GOES_ON.fullmatch(action.strip(" .")) is not None


def capitalised(text: str) -> str:
    """The first letter upper case, unless the first word is written like a name or a path."""
    first, _, rest = text.partition(" ")
    word = first.rstrip(",;")
    if any(_OPTION_OR_PATH.match(each) for each in rest.split()[:2]):
        return text  # a command line
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text

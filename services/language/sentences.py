"""Sentences of a paragraph, and what is left of one as a step."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from services.language.lexicon import words
from services.language.verbs import begins_with_verb

LONGEST_SENTENCE = 1000
"""Characters; a longer one is none, and looking for clauses in it takes long."""

_SENTENCE_END = re.compile(
    r"(?<![eE]\.g\.)(?<![iI]\.e\.)(?<!etc\.)(?<!vs\.)(?<!\bNo\.)(?<=[.!?])[\"')\]*]*\s+"
    r"(?=[A-Z\"'`(\[<*]|\d+[.)]\s)|(?<=[.!?])\s+(?=[a-z]+ the )"
    r"|(?:\s*;|,\s+and|\s[—–-])\s+(?=if (?:so|not),)"
)
_ENDS_IN_CODE = re.compile(r"[.!?;](?=\s)")
_QUOTED = re.compile(r"“[^“”]*”|(?<![\w\"])\"[^\"]*\"(?!\w)")
_INSIDE = re.compile(rf"\([^()]*\)|{_QUOTED.pattern}")
"""What a sentence says in brackets or quotes, its end left out."""
_INLINE_NUMBER = re.compile(r"(?:(?<=^)|(?<=\s))(\d{1,2}(?:\.\d{1,2}){0,2}[.)]?)\s+(?=[A-Z])")
_LEAST_CLAUSE = 6
"""Words of a clause that tells enough without the remark behind it."""
_PREFIX = re.compile(
    r"^(?:\([^()]{1,32}[#>$]\s*\)\s*|[*•·–—-]\s+|\[(?:required|optional|[ xX])\]\s*"
    r"|\((?:optional|required|recommended)\)[:,]?\s*"
    r"|(?:step|phase)\s+\w{1,3}\s*[:.)–—-]\s*|\d{1,2}(?:\.\d{1,2}){0,2}[.)]\s+"
    r"|\d{1,2}(?:\.\d{1,2}){1,2}\s+"
    r"|(?:please|next|then|now|first|firstly|second|secondly|third|finally|lastly|also|note that"
    r"|again|optionally|additionally|afterwards?|alternatively|instead|to begin|to start)[,:]?\s+"
    r"|(?:disruptive|warning|caution|important|note|optional|tip|action)\b[^:—–.]{0,30}[:—–]\s*"
    r"|(?:recommended |suggested |possible )?(?:mitigation|resolution|solution|remediation|remedy"
    r"|fix|work-?around|(?:corrective )?actions?|what to do)(?:\s*#?\d{1,2})?:\s+"
    r"|(?:and|or|but)\s+"
    r"|(?:when|once|after)\s+(?:(?:this|that|it|you)\s+(?:is|are)\s+)?(?:done|finished"
    r"|completed?),?\s+"
    r"|(?:after that|at this point|in this case|in that case|in such cases?),?\s+)+",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"^(?:(?:you|we)['’]ll (?:also )?(?:need|have|want) to\s+"
    r"|(?:the )?(?:users|administrators|admins|operators|engineers|customers)\s+"
    r"(?:must|should|need to|have to|will need to|can (?=\w+ the (?:following|below)))\s*"
    r"|(?:you|we|the (?:user|administrator|admin|operator|engineer))\s+"
    r"(?:can|could|must|should|may|might|need to|have to|will need to|will have to|want to"
    r"|might want to|might need to|may need to|may want to|are able to)\s+(?:also\s+|then\s+"
    r"|first\s+|either\s+|always\s+)?(?:be able to\s+|need to\s+|want to\s+|try to\s+)?"
    r"|(?:we|it is|it's|it may be|it might be|it could be|it will be"
    r"|is)\s+(?:also\s+|highly\s+|strongly\s+|often\s+)?"
    r"(?:recommend(?:ed)?|advis(?:ed|able)|necessary|required|suggested|best|possible|important"
    r"|easiest|safest"
    r"|needed|essential|helpful|useful)"
    r"(?:\s+(?:for you|that you))?\s+(?:to\s+)?"
    r"|(?:the )?(?:best|only|easiest|quickest|simplest|recommended|safest) (?:option|way|solution"
    r"|approach)(?: to do (?:this|that|so|it))? is to\s+)(?=[a-z])",
    re.IGNORECASE,
)
_MAYBE = re.compile(
    r"(?:it|this) (?:may|might|could)(?: also| then)? be (?:necessary|needed|required)",
    re.IGNORECASE,
)
_EXPECTED = re.compile(
    r"(?:you|we)\s+(?:should|must|will|would|may|might)\s+(?:\w+\s+)?(?:see|notice|observe|receive|expect"
    r"|find(?! out)|have(?! (?:to|the|it|them)\b))\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"^(?:in order )?to\s+(?P<aim>[a-z][^,:]{5,120}?)[,:]\s+(?:please\s+|you can\s+)?"
    r"(?P<rest>[A-Za-z].*)$",
    re.IGNORECASE | re.DOTALL,
)
_BARE_COMMAND = re.compile(
    r"(?:run|use|execute|enter|issue|type|try|perform|follow|complete|do|apply|invoke)\s+"
    r"(?:(?:the|these|this|(?:(?:at least )?one or (?:more|both)|one|any|all|both|either|each"
    r"|some) of"
    r" (?:the|these)|following|below|example|additional)\s+){1,3}"
    r"(?:\w+[- ]){0,3}(?:commands?|steps?|script|scripts|query|queries|procedures?|instructions?"
    r"|cmdlets?|snippet|code|actions?|tasks?|following)?"
    r"(?:\s+(?:below|in order|as follows|again|here))*[.:]?",
    re.IGNORECASE,
)
_COMMAND_DOES = re.compile(
    r"(?:the )?(?:following|below|next) (?:commands?|scripts?|cmdlets?|quer(?:y|ies)|snippets?)"
    r"(?: below)? (?:will|can be used to|lets? you|allows? you to|is used to|are used to)\s+"
    r"(?P<aim>(?!(?:allow|let|help|be|take|give|output|produce|return)\b)[a-z].{5,})",
    re.IGNORECASE | re.DOTALL,
)
"""`Below command will start the download`: what is done by what follows."""
_RUNS_WHAT_FOLLOWS = re.compile(
    r"(?:^|.*[\w)`],?\s)(?<!\bto )(?<!\bthat )(?<!\bwhich )(?<!\bwhen you )(?<!\bwill )"
    r"(?:run|execute|enter|type|issue)"
    r"(?:\s+(?:(?:the |this |these )?(?:following|below)|this|these)(?:\s+\w+)?)?\s*:",
    re.IGNORECASE | re.DOTALL,
)
"""`On the master node, run:` has no object but what stands below it."""
_RUNS = re.compile(r"(?:run|execute|enter|type|issue):\s+\S", re.IGNORECASE)
_TO_AN_END = re.compile(
    r"^(?:run|use|execute|enter|issue|perform|follow|complete|do|apply)\s+"
    r"(?:(?:the|these|this|one of the|following|below)\s+){1,3}"
    r"(?:\w+[- ]){0,2}(?:commands?|steps?|script|query|procedures?|instructions?|cmdlets?)?\s*"
    r"(?:below\s+)?(?:in order )?to\s+(?P<aim>[a-z].{5,})$",
    re.IGNORECASE | re.DOTALL,
)
_GENERIC = re.compile(
    r"(?:run|use|execute|enter|issue|type|perform|follow|complete|apply|select|choose|do)\s+"
    r"(?:(?:the|these|this|one of|any of|each of|following|below|example|next)\s+){1,4}"
    r"(?:\w+[- ])?(?:cmdlets?|commands?|scripts?|steps?|quer(?:y|ies)|procedures?|instructions?"
    r"|section|options?|actions?|following)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:in|on|from|at|with|using|for|within|under|after|before|once|when|whenever|by|through"
    r"|during"
    r"|as|until|via|while|since|because|inside|next to|depending|based|where)\s",
    re.IGNORECASE,
)
_COMMA = re.compile(r",\s+(?!and\b|or\b)")
_SEEN_THEN = re.compile(
    r",\s+(?:you|we|they|it|(?:the )?(?:users?|customers?))\s+(?:will|would|may|might|should)\s+"
    r"(?:\w+\s+)?(?:see|notice|observe|receive|get|show|report|display|fail)\b",
    re.IGNORECASE,
)
"""`When they open the page, they will see a message`: what happens then, and nothing is told."""
_REMARKS = re.compile(
    r"^(?:(?:use|follow|read) this (?:procedure|page|guide|section|runbook|document|article|topic)"
    r" (?:to|for|when)\b|keep in mind|be aware|bear in mind|remember that|note\b(?! (?:the|down"
    r"|which|any|its"
    r"|their))"
    r"|notice (?:that|how)\b|say (?:you|we|that)\b|(?:click|see|look) here\b"
    r"|see (?:also|below|above)|back to\b|go back to (?:the )?(?:top|index)|read more|learn more"
    r"|(?:for (?:(?:more|further|additional|full|detailed)\b"
    r"|(?:\w+ ){0,3}(?:information|details|documentation|guidance|reference|background|help)\b)"
    r"|to (?:learn|read|find out|know) more\b)[^,]{0,140},\s*(?:please )?(?:see|refer to"
    r"|consult|check|read|visit|go to|review)\b"
    r"|find (?:out )?more|visit .{0,60} for more"
    r"|(?:see|refer to|consult|check out)\b.{0,160}\bfor (?:more|further|additional|full|detailed)"
    r" (?:\w+ )?(?:information|details|background|examples|reading|context|explanation))",
    re.IGNORECASE,
)
_AIM = re.compile(r"(?:in order )?to\s+(?P<aim>[a-z][^,]*)", re.IGNORECASE)
_LEADS_ON = words("words", "leading_on")
"""Words that do not end a phrase."""
_OPTION_OR_PATH = re.compile(r"--?[A-Za-z]|\.{0,2}/\w")


def sentences(text: str, codes: Iterable[str] = ()) -> list[str]:
    """The sentences of a paragraph, trimmed; what holds no word or number is none.

    None ends in what is marked as code, in brackets or between quotes. Steps that a plain text
    numbers in one line (`2.1 Do this 2.2 Do that`) are cut apart.
    """
    parts = (part for line in _numbered_apart(text) for part in _cut(line, codes))
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


def _cut(line: str, codes: Iterable[str]) -> Iterator[str]:
    whole = line
    for code in codes:
        whole = whole.replace(code, _ENDS_IN_CODE.sub("_", code))
    for said in _INSIDE.finditer(whole):
        if said[0].count(" ") > 1:
            first, last = said.start() + 1, said.end() - 2
            whole = whole[:first] + "_" * (last - first) + whole[last:]
    start = 0
    for end in _SENTENCE_END.finditer(whole):
        yield line[start : end.start()] + end[0][: len(end[0]) - len(end[0].lstrip("\"')]"))]
        start = end.end()
    yield line[start:]


def _numbered_apart(text: str) -> list[str]:
    marks = list(_INLINE_NUMBER.finditer(text))
    if len(marks) < 2 or not _rises([mark[1] for mark in marks]):
        return [text]
    starts = [mark.start() for mark in marks]
    return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


def _rises(numbers: list[str]) -> bool:
    """Whether each is the next of the one before: `2.1`, `2.2`."""
    parts = [[int(digit) for digit in number.strip(".)").split(".")] for number in numbers]
    return all(b == [*a[:-1], a[-1] + 1] or b == [*a, 1] for a, b in pairwise(parts))


def without_prefix(sentence: str) -> str:
    """Without what stands before the instruction: numbers, prompts, `please`, `you should`."""
    said = _PREFIX.sub("", sentence).strip() or sentence
    told = _MODAL.sub("", said)
    if told == said or not begins_with_verb(told) or _EXPECTED.match(said):
        return said
    return f"{told.rstrip(' .:')} if necessary" if _MAYBE.match(said) else told


@lru_cache(maxsize=4096)
def instruction(sentence: str) -> str:
    """What a sentence tells to do, in an imperative; empty where it tells nothing.

    `To see the pods, run the following command:` tells to see the pods.
    """
    said = without_prefix(sentence.strip(" :"))
    if _REMARKS.match(said):
        return ""
    aimed = _PURPOSE.match(said)
    if aimed:
        rest = without_prefix(aimed["rest"])
        if _BARE_COMMAND.fullmatch(rest.strip(" .:")) and begins_with_verb(aimed["aim"]):
            return capitalised(aimed["aim"])
        return capitalised(said) if begins_with_verb(rest) else ""
    does = _COMMAND_DOES.fullmatch(said)
    if does and begins_with_verb(does["aim"]):
        return capitalised(does["aim"].rstrip(" .:"))
    ended = _TO_AN_END.match(said)
    if ended and begins_with_verb(ended["aim"]):
        return capitalised(ended["aim"].rstrip(" .:"))
    is_told = begins_with_verb(said) or _tells_after_lead(said) or _runs_what_follows(sentence)
    return capitalised(said.rstrip(" .:;,")) if is_told else ""


def _runs_what_follows(sentence: str) -> bool:
    """Whether it ends with what is to be done with the code below it, wherever that is."""
    said = without_prefix(sentence.strip())
    is_led = _LEAD.match(said) or len(said.split()) <= _LEAST_CLAUSE
    return bool(is_led) and _RUNS_WHAT_FOLLOWS.fullmatch(said) is not None


def _tells_after_lead(said: str) -> bool:
    """Whether an instruction follows where and when it is done: `In the console, press Stop`."""
    if len(said) > LONGEST_SENTENCE or not _LEAD.match(said):
        return False
    told = _QUOTED.sub(lambda found: "_" * len(found[0]), said)
    if _SEEN_THEN.search(told):
        return False
    behind = (told[found.end() :] for found in _COMMA.finditer(told))
    return any(_RUNS.match(each) or begins_with_verb(without_prefix(each)) for each in behind)


def is_generic(sentence: str) -> bool:
    """Whether it names nothing that it acts on but `this command` or `the following`."""
    return _GENERIC.match(sentence) is not None


def aim(sentence: str) -> str:
    """What is done with what follows: `To see the pods:`; the sentence where it says no aim."""
    found = _AIM.fullmatch(sentence.strip(" :"))
    is_told = found and begins_with_verb(found["aim"])
    return capitalised(found["aim"]) if found and is_told else sentence


def leads_only(sentence: str) -> bool:
    """Whether it says nothing but that commands or steps follow."""
    return _BARE_COMMAND.fullmatch(without_prefix(sentence).strip(" .:")) is not None


def _first_words(text: str, most: int) -> str:
    """At most so many words, none left hanging that only leads on to the next."""
    parts = text.split()
    if len(parts) <= most:
        return text
    parts = parts[:most]
    while len(parts) > 2 and (parts[-1].casefold() in _LEADS_ON or parts[-1] in "/&—–-"):
        parts.pop()
    return " ".join(parts)


def capitalised(text: str) -> str:
    """The first letter upper case, unless the first word is written like a name or a path."""
    first, _, rest = text.partition(" ")
    word = first.rstrip(",;")
    if any(_OPTION_OR_PATH.match(each) for each in rest.split()[:2]):
        return text  # a command line
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text

"""Sentences of a text, and the instruction that each of them gives.

`sentences` reads a text as steps. The cuts for lookup, fitting and screening interpret nothing and
are acceptable anywhere: `statements` also cuts at semicolons, `with_spaces` keeps all spaces.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from services.language.verbs import begins_with_verb

LONGEST_SENTENCE = 1000
"""Characters; a longer text is no sentence, and searching it for clauses is slow."""

_SENTENCE_END = re.compile(
    r"(?<![eE]\.g\.)(?<![iI]\.e\.)(?<!etc\.)(?<!vs\.)(?<!\bNo\.)(?<=[.!?])[\"')\]*]*\s+"
    r"(?=[A-Z\"'`(\[<*]|\d+[.)]\s)|(?<=[.!?])\s+(?=[a-z]+ the )"
    r"|(?:\s*;|,\s+and|\s[—–-])\s+(?=if (?:so|not),)"
)
_ENDS_IN_CODE = re.compile(r"[.!?;](?=\s)")
_QUOTED = re.compile(r"“[^“”]*”|(?<![\w\"])\"[^\"]*\"(?!\w)")
_INSIDE = re.compile(rf"\([^()]*\)|{_QUOTED.pattern}")
"""Text in brackets or quotes, in which no sentence ends."""
_INLINE_NUMBER = re.compile(r"(?:(?<=^)|(?<=\s))(\d{1,2}(?:\.\d{1,2}){0,2}[.)]?)\s+(?=[A-Z])")
_LEAST_CLAUSE = 6
"""Words of a clause that says enough without the remark behind it."""
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
_MAY_BE_NEEDED = re.compile(
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
"""The purpose of a command below: `Below command will start the download`."""
_RUNS_WHAT_FOLLOWS = re.compile(
    r"(?:^|.*[\w)`],?\s)(?<!\bto )(?<!\bthat )(?<!\bwhich )(?<!\bwhen you )(?<!\bwill )"
    r"(?:run|execute|enter|type|issue)"
    r"(?:\s+(?:(?:the |this |these )?(?:following|below)|this|these)(?:\s+\w+)?)?\s*:",
    re.IGNORECASE | re.DOTALL,
)
"""A phrase whose only object is the code below it: `On the master node, run:`."""
_RUN_COLON = re.compile(r"(?:run|execute|enter|type|issue):\s+\S", re.IGNORECASE)
_TO_AN_END = re.compile(
    r"^(?:run|use|execute|enter|issue|perform|follow|complete|do|apply)\s+"
    r"(?:(?:the|these|this|one of the|following|below)\s+){1,3}"
    r"(?:\w+[- ]){0,2}(?:commands?|steps?|script|query|procedures?|instructions?|cmdlets?)?\s*"
    r"(?:below\s+)?(?:in order )?to\s+(?P<aim>[a-z].{5,})$",
    re.IGNORECASE | re.DOTALL,
)
_LEAD_PHRASE = re.compile(
    r"(?:in|on|from|at|with|using|for|within|under|after|before|once|when|whenever|by|through"
    r"|during"
    r"|as|until|via|while|since|because|inside|next to|depending|based|where)\s",
    re.IGNORECASE,
)
_COMMA = re.compile(r",\s+(?!and\b|or\b)")
_OBSERVED_THEN = re.compile(
    r",\s+(?:you|we|they|it|(?:the )?(?:users?|customers?))\s+(?:will|would|may|might|should)\s+"
    r"(?:\w+\s+)?(?:see|notice|observe|receive|get|show|report|display|fail)\b",
    re.IGNORECASE,
)
"""An observation, no instruction: `When they open the page, they will see a message`."""
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
_OPTION_OR_PATH = re.compile(r"--?[A-Za-z]|\.{0,2}/\w")


def sentences(text: str, codes: Iterable[str] = ()) -> list[str]:
    """Split a paragraph into trimmed sentences that hold a letter or digit.

    None ends inside marked code, brackets or quotes. Steps that a plain text numbers in one line
    (`2.1 Do this 2.2 Do that`) are cut apart.
    """
    parts = (part for line in _numbered_apart(text) for part in _split(line, codes))
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


def _split(line: str, codes: Iterable[str]) -> Iterator[str]:
    whole = line
    for code in codes:
        whole = whole.replace(code, _ENDS_IN_CODE.sub("_", code))
    for inside in _INSIDE.finditer(whole):
        if inside[0].count(" ") > 1:
            first, last = inside.start() + 1, inside.end() - 2
            whole = whole[:first] + "_" * (last - first) + whole[last:]
    start = 0
    for end in _SENTENCE_END.finditer(whole):
        yield line[start : end.start()] + end[0][: len(end[0]) - len(end[0].lstrip("\"')]"))]
        start = end.end()
    yield line[start:]


def _numbered_apart(text: str) -> list[str]:
    marks = list(_INLINE_NUMBER.finditer(text))
    numbers = [[int(digit) for digit in mark[1].strip(".)").split(".")] for mark in marks]
    if len(marks) < 2 or any(
        b not in ([*a[:-1], a[-1] + 1], [*a, 1]) for a, b in pairwise(numbers)
    ):
        return [text]
    starts = [mark.start() for mark in marks]
    return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


def without_prefix(sentence: str) -> str:
    """Strip what precedes the instruction: numbers, prompts, `please`, `you should`."""
    bare = _PREFIX.sub("", sentence).strip() or sentence
    instruction_text = _MODAL.sub("", bare)
    if instruction_text == bare or not begins_with_verb(instruction_text) or _EXPECTED.match(bare):
        return bare
    return (
        f"{instruction_text.rstrip(' .:')} if necessary"
        if _MAY_BE_NEEDED.match(bare)
        else instruction_text
    )


def parse_instruction(sentence: str) -> str:
    """Return the instruction of a sentence as an imperative; empty if it gives none.

    `To see the pods, run the following command:` gives `See the pods`.
    """
    bare = without_prefix(sentence.strip(" :"))
    if _REMARKS.match(bare):
        return ""
    purpose = _PURPOSE.match(bare)
    if purpose:
        rest = without_prefix(purpose["rest"])
        if _BARE_COMMAND.fullmatch(rest.strip(" .:")) and begins_with_verb(purpose["aim"]):
            return capitalised(purpose["aim"])
        return capitalised(bare) if begins_with_verb(rest) else ""
    command_purpose = _COMMAND_DOES.fullmatch(bare)
    if command_purpose and begins_with_verb(command_purpose["aim"]):
        return capitalised(command_purpose["aim"].rstrip(" .:"))
    purpose_at_end = _TO_AN_END.match(bare)
    if purpose_at_end and begins_with_verb(purpose_at_end["aim"]):
        return capitalised(purpose_at_end["aim"].rstrip(" .:"))
    is_instruction = (
        begins_with_verb(bare) or _instructs_after_lead(bare) or _runs_what_follows(sentence)
    )
    return capitalised(bare.rstrip(" .:;,")) if is_instruction else ""


def _runs_what_follows(sentence: str) -> bool:
    """Return True if the sentence ends by telling to run the code below it."""
    bare = without_prefix(sentence.strip())
    is_short_or_has_lead = _LEAD_PHRASE.match(bare) or len(bare.split()) <= _LEAST_CLAUSE
    return bool(is_short_or_has_lead) and _RUNS_WHAT_FOLLOWS.fullmatch(bare) is not None


def _instructs_after_lead(text: str) -> bool:
    """Return True if an instruction follows a place or time: `In the console, press Stop`."""
    if len(text) > LONGEST_SENTENCE or not _LEAD_PHRASE.match(text):
        return False
    unquoted = _QUOTED.sub(lambda match: "_" * len(match[0]), text)
    if _OBSERVED_THEN.search(unquoted):
        return False
    behind = (unquoted[match.end() :] for match in _COMMA.finditer(unquoted))
    return any(_RUN_COLON.match(each) or begins_with_verb(without_prefix(each)) for each in behind)


def is_lead_in(sentence: str) -> bool:
    """Return True if the sentence only announces the commands or steps that follow."""
    return _BARE_COMMAND.fullmatch(without_prefix(sentence).strip(" .:")) is not None


def capitalised(text: str) -> str:
    """Capitalise the first letter, unless the first word looks like a name or a path."""
    first, _, rest = text.partition(" ")
    word = first.rstrip(",;")
    if any(_OPTION_OR_PATH.match(each) for each in rest.split()[:2]):
        return text  # a command line
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text


_LOOKED_UP_END = re.compile(r"(?<=[.!?;])\s+(?=[^a-z])|(?<=;)\s+")
_ANY_END = re.compile(r"(?<=[.!?;])\s+")
_SCREENED_END = re.compile(r"[.!?][\"')\]”»*_`]*\s+|[。！？।][\"')\]”»*_`]*\s*")
"""The end of a sentence in any language, with the space after it."""


def statements(text: str) -> list[str]:
    """Split a text at sentence ends and semicolons, for looking up sources."""
    return _LOOKED_UP_END.split(text)


def cut_anywhere(text: str) -> list[str]:
    """Split wherever a sentence may end, for a text that must be cut somewhere."""
    return _ANY_END.split(text)


def with_spaces(text: str) -> list[str]:
    """Split into sentences, each with the space after it, so that joining restores the text."""
    ends = [match.end() for match in _SCREENED_END.finditer(text)]
    bounds = [0, *ends, len(text)]
    return [text[a:b] for a, b in pairwise(bounds) if a < b]

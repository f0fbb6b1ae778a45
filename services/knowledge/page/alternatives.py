"""Lists of alternatives, of which one item is to be chosen, recognised by form or by the lead."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.box_signs import COLONS
from services.language.verbs import begins_with_verb

_OR = (
    r"(?:or|oder|ou(?: bien)?|o(?: bien)?|oppure|ou então|of|eller|lub|albo|nebo|или|або|veya|tai"
    r"|または|或者?|또는)"
)
_ENDS_WITH_OR = re.compile(rf"(?:^|[\s,;.:，、；])[-–—(]?{_OR}[\s)]*[.:,;…，]*$", re.IGNORECASE)
_BEGINS_WITH_OR = re.compile(rf"{_OR}(?:[\s,:，、]|(?<=[\u3040-\u9fff]))", re.IGNORECASE)

_ONE = r"(?:(?:any|just|only|exactly) )?(?:one|either) (?:of|from) (?:the|these|those|two|three)\b"
_WAYS = r"(?:ways?|methods?|options?|approaches|alternatives|procedures?|techniques|means)"
_DOING = r"(?:choose|select|pick|use|do|try|follow|take|perform|run|apply|complete|carry out)"
_YOU = r"(?:you|we|operators|users|administrators) (?:can|could|may|must|should|need to|have to)"
_ENGLISH = re.compile(
    rf"(?:(?:in order )?to .* )?{_YOU} (?:{_DOING}|.* by (?:doing|using|running)) {_ONE}.*"
    rf"|(?:one|either) of (?:the|these) (?:\w+ ){{0,2}}{_WAYS} can be used"
    r"|(?:choose|select|pick) (?:either|one)"
    rf"|(?:{_YOU} )?(?:do )?either",
    re.IGNORECASE,
)
"""Pattern of a whole clause."""
_OBJECT = re.compile(rf"(?:please |then )?[a-z]+ {_ONE}.*", re.IGNORECASE)
"""Object of a verb in its base form."""
_BY_ONE = re.compile(
    rf"(?:.* )?(?:(?:by|using|with|via|in|through) (?:doing )?)?(?:one|either) of "
    rf"(?:the|these|two|three)\b(?: (?!{_WAYS}\b)\w+){{0,2}} {_WAYS}\b.*"
    rf"|.* by (?:doing|using|taking|performing|running) {_ONE}.*",
    re.IGNORECASE,
)
_LOOKING = re.compile(
    r"(?:assume|be|check|confirm|consider|ensure|expect|find|get|has|have|identify|indicate|look"
    r"|make sure|match|meet|mean|note|observe|read|receive|see|show|verify)\b",
    re.IGNORECASE,
)
"""Verbs whose object can be one of several things without anybody choosing."""
_STATING = re.compile(
    r"\b(?:one|either) of (?:the|these|those|two|three)(?: \w+){0,2} (?:causes|reasons|conditions"
    r"|symptoms|issues|problems|states|errors|messages|criteria|requirements|cases|situations"
    r"|scenarios|outcomes|results|patterns)\b",
    re.IGNORECASE,
)
_OTHERS = {
    "de": r"(?:wählen|verwenden|nutzen|benutzen|führen|machen|starten|befolgen) sie (?:bitte )?"
    r"(?:genau )?ein(?:e[nrms]?|s)? (?:der|dieser|von)\b.*|entweder",
    "es": r"(?:elija|elige|escoja|escoge|seleccione|selecciona|use|usa|utilice|utiliza|haga|haz"
    r"|realice|realiza|siga|sigue|reinicie|ejecute) (?:un[oa]|alguno|alguna) de (?:l[oa]s|est[oa]s)"
    r"\b.*",
    "fr": r"(?:choisissez|choisir|sélectionnez|utilisez|utiliser|effectuez|suivez|faites|exécutez"
    r"|redémarrez) l[’'] ?une? (?:des|de ces)\b.*|soit",
    "pt": r"(?:escolha|selecione|use|utilize|faça|execute|realize|siga|reinicie) "
    r"(?:um|uma) (?:dos|das|destes|destas|desses|dessas)\b.*",
}
"""Patterns of whole clauses in other languages."""
_OTHER = re.compile("|".join(_OTHERS.values()), re.IGNORECASE)
_LONGEST = 300
"""Limit on the characters of a lead that are examined."""
_MOST_COMMAS = 4
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def alternatives(page: Page) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    """Yield each either/or: the block that leads it and the items to choose from.

    The lead ends with a colon and asks for one of them, or "or" joins them: it ends each item but
    the last, or the last but one, or begins each but the first, or the last.
    """
    yield from _among(page.blocks)
    for place in page.places():
        parent = (place.block,) if place.block.kind is BlockKind.ITEM else ()
        yield from _among((*parent, *place.block.children))


def _among(blocks: Sequence[Block]) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    for lead, block in pairwise(blocks):
        can_lead = lead.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}
        if can_lead and lead.text.endswith(COLONS) and block.kind is BlockKind.LIST:
            items = block.children
            if len(items) > 1 and (_are_joined(items) or _asks_for_one(lead.text)):
                yield lead, items


def _are_joined(items: Sequence[Block]) -> bool:
    ends = bool(_ENDS_WITH_OR.search(items[-2].text))
    begins = bool(_BEGINS_WITH_OR.match(items[-1].text))
    return (ends or begins) and not any(item.number and item.children for item in items)


def _asks_for_one(lead: str) -> bool:
    """Return True if the last sentence of a lead asks for exactly one of the items below.

    "One of the following reasons" says what is so, and asks for nothing.
    """
    last = _SENTENCE.split(lead[-_LONGEST:].rstrip(" :：…"))[-1]
    return not _STATING.search(last) and any(map(_asks, _clauses(last)))


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the sentence and the rest after each of its last commas."""
    yield sentence.strip()
    comma = len(sentence)
    for _ in range(_MOST_COMMAS):
        comma = sentence.rfind(",", 0, comma)
        if comma < 0:
            return
        yield sentence[comma + 1 :].strip()


def _asks(clause: str) -> bool:
    if _ENGLISH.fullmatch(clause) or _OTHER.fullmatch(clause):
        return True
    is_done = _OBJECT.fullmatch(clause) or _BY_ONE.fullmatch(clause)
    return bool(is_done) and not _LOOKING.match(clause) and begins_with_verb(clause)

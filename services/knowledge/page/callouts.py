"""Callouts: the names they go by, and the lead words of paragraphs and quotes."""

import re
from collections.abc import Iterable
from dataclasses import replace

from services.knowledge.page.block import Inline, InlineKind, Words, plain

_NAMES = {
    "note": "note info information abstract summary tldr todo question help faq example quote cite "
    "seealso remark panel",
    "tip": "tip hint success check done best-practice",
    "important": "important",
    "warning": "warning warn attention alert",
    "caution": "caution",
    "danger": "danger error failure fail missing bug critical fatal",
}
_BY_NAME = {name: callout for callout, names in _NAMES.items() for name in names.split()}

LEAD_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "note": ("note", "notes", "please note", "info", "information", "fyi"),
        "tip": ("tip", "tips", "hint"),
        "important": ("important", "important note", "nota bene", "n.b.", "nb"),
        "warning": ("warning", "warnings", "attention", "disclaimer"),
        "caution": ("caution",),
        "danger": ("danger", "dangerous"),
    },
    "de": {
        "note": ("hinweis", "hinweise", "anmerkung", "bemerkung"),
        "tip": ("tipp", "tipps"),
        "important": ("wichtig", "wichtiger hinweis", "bitte beachten", "beachte"),
        "warning": ("warnung", "achtung"),
        "caution": ("vorsicht",),
        "danger": ("gefahr", "lebensgefahr"),
    },
    "fr": {
        "note": ("remarque", "remarques", "à noter", "nota"),
        "tip": ("astuce", "conseil"),
        "important": ("à savoir",),
        "warning": ("avertissement", "mise en garde"),
        "caution": ("prudence",),
    },
    "es": {
        "note": ("nota", "notas", "observación"),
        "tip": ("consejo", "sugerencia"),
        "important": ("importante",),
        "warning": ("advertencia", "aviso", "atención"),
        "caution": ("precaución", "cuidado"),
        "danger": ("peligro",),
    },
    "pt": {
        "note": ("observação", "observações"),
        "tip": ("dica", "sugestão"),
        "warning": ("advertência", "atenção"),
        "caution": ("cuidado", "precaução"),
        "danger": ("perigo",),
    },
    "ja": {
        "note": ("注", "注記", "備考", "メモ", "補足", "参考"),
        "tip": ("ヒント",),
        "important": ("重要",),
        "warning": ("警告", "注意"),
        "danger": ("危険",),
    },
    "zh": {
        "note": ("注", "备注", "備註", "说明", "說明", "提醒", "附注"),
        "tip": ("提示", "小提示"),
        "important": ("重要", "重要提示"),
        "warning": ("警告", "注意", "注意事项"),
        "danger": ("危险", "危險"),
    },
}
"""Lead words of callouts, by language and type of callout."""

_BY_LEAD = {
    word: callout
    for words_by_callout in LEAD_WORDS.values()
    for callout, words in words_by_callout.items()
    for word in words
}
_LEADS = "|".join(map(re.escape, sorted(_BY_LEAD, key=len, reverse=True)))
_SIGNS = r"(?:[^\w>]|_){0,12}?"
"""Signs and marks of emphasis before a lead."""
_WHOLE_LEAD = re.compile(rf"{_SIGNS}(?P<lead>{_LEADS})\s*[:：!！.]?\s*", re.IGNORECASE)
_LEAD_WITH_COLON = re.compile(
    rf"{_SIGNS}(?P<lead>{_LEADS})\s*[:：!！]+(?=\s|$|[^\x00-\xff])", re.IGNORECASE
)
_QUOTED_LEAD = re.compile(
    rf">\s*(?:\[!\w+\]|{_SIGNS}(?:{_LEADS})[*_\s]*[:：!！])",
    re.IGNORECASE,
)
_COLON = re.compile(r"\s*[:：!！]")
_MARKER = re.compile(r"\s*\[!(?P<name>[A-Za-z]+)\][+-]?\s*")
_CLASS_OF_CALLOUTS = re.compile(
    r"alert|admonition|callout|notice|panel|infobox|message|custom-block|information-macro"
)


def is_callout_name(name: str) -> bool:
    """Return True if a container of this name is a callout."""
    return name.lower() in _BY_NAME


def callout_of(name: str) -> str:
    """Return the callout that goes by a name; one of an unknown name is a note."""
    return _BY_NAME.get(name.lower(), "note")


def callout_of_classes(classes: Iterable[str]) -> str:
    """Return the callout that an element's classes name, or an empty text."""
    lowered = [each.lower() for each in classes]
    whole = next((_BY_NAME[each] for each in lowered if each in _BY_NAME and each != "alert"), "")
    if whole and not set(lowered) & {"summary", "help", "example", "quote", "cite", "check"}:
        return whole
    if not any(_CLASS_OF_CALLOUTS.search(each) for each in lowered):
        return ""
    parts = [part for each in lowered for part in each.split("-") if part not in {"alert", "panel"}]
    return next((_BY_NAME[part] for part in parts if part in _BY_NAME), "note")


def begins_as_callout(quote: str) -> bool:
    """Return True if the first line of a quote, with its `>`, begins a callout."""
    return _QUOTED_LEAD.match(quote) is not None


def split_marker(words: Words) -> tuple[str, Words, Words] | None:
    """Split a quote's words that begin with `[!NOTE]` into callout, title and rest."""
    match = _MARKER.match(words[0].text) if words and words[0].kind is InlineKind.TEXT else None
    if match is None:
        return None
    first = replace(words[0], text=words[0].text[match.end() :])
    behind = next((n for n, each in enumerate(words) if each.kind is InlineKind.BREAK), len(words))
    title = tuple(each for each in (first, *words[1:behind]) if each.text or each.children)
    return callout_of(match["name"]), title, words[behind + 1 :]


def split_lead(words: Words) -> tuple[str, Words, Words] | None:
    """Split words that begin like a callout into callout, lead words and rest.

    The lead is bold (`**Warning**`), bold with all that follows (`**Warning: never …**`), or plain
    with a colon (`NOTE: …`); a sign such as ⚠ may stand before it.
    """
    start = 0
    while start < len(words) - 1 and _is_sign(words[start]):
        start += 1
    if start == len(words):
        return None
    first, before, behind = words[start], words[:start], words[start + 1 :]
    if first.kind is InlineKind.TEXT:
        match = _LEAD_WITH_COLON.match(first.text)
        if match is None or match["lead"][0].islower():
            return None
        title, rest = _cut(first, match.end())
        return _BY_LEAD[match["lead"].lower()], (*before, title), (*rest, *behind)
    if first.kind not in {InlineKind.STRONG, InlineKind.EMPHASIS}:
        return None
    return _bold_lead(first, before, behind)


def _bold_lead(first: Inline, before: Words, behind: Words) -> tuple[str, Words, Words] | None:
    text = plain((first,))
    whole = _WHOLE_LEAD.fullmatch(text)
    colon = _COLON.match(behind[0].text) if behind and behind[0].kind is InlineKind.TEXT else None
    if whole and colon:
        mark, rest = _cut(behind[0], colon.end())
        return _BY_LEAD[whole["lead"].lower()], (*before, first, mark), (*rest, *behind[1:])
    if whole and (first.kind is InlineKind.STRONG or text.endswith((":", "："))):
        return _BY_LEAD[whole["lead"].lower()], (*before, first), behind
    inner = split_lead(first.children)
    if inner is None:
        return None
    callout, title, rest = inner
    titled = (*before, replace(first, children=title))
    return callout, titled, (replace(first, children=rest), *behind) if rest else behind


def _is_sign(piece: Inline) -> bool:
    """Return True if a piece contains no letter: a space, an emoji, a picture of a sign."""
    if piece.kind is InlineKind.IMAGE:
        return True
    return piece.kind is InlineKind.TEXT and not any(map(str.isalnum, piece.text))


def _cut(piece: Inline, at: int) -> tuple[Inline, Words]:
    rest = piece.text[at:].lstrip()
    return replace(piece, text=piece.text[:at]), (replace(piece, text=rest),) if rest else ()

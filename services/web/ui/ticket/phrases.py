"""The words of a block for a template: inline pieces in a flat sequence."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import groupby

from services.knowledge.page.block import Inline, InlineKind, Words
from services.web.ui.page_links import LinkTarget, PageLinks, ShownPicture


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text of one style."""

    kind: InlineKind
    text: str = ""
    target: LinkTarget | None = None
    """Target of a click on it."""
    is_strong: bool = False
    is_emphasised: bool = False
    is_struck: bool = False
    is_command: bool = False
    """True if code is a command to type: it can be copied, and its gaps are filled."""
    picture: ShownPicture | None = None
    """The picture of an image that can be shown here."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Runs of text within one link, or outside any."""

    target: LinkTarget | None
    runs: tuple[TextRun, ...]


def phrases(
    words: Words, links: PageLinks, line: int, commands: Collection[str] = ()
) -> tuple[Phrase, ...]:
    """Return the words as a flat sequence.

    `line` is the line of the words, `commands` are the commands to type among them.
    """
    text_runs: list[TextRun] = []
    stack = [(each, TextRun(InlineKind.TEXT)) for each in reversed(words)]
    while stack:
        inline, look = stack.pop()
        if inline.kind is InlineKind.LINK:
            look = replace(look, target=links.target(inline.target))
        elif inline.kind is InlineKind.STRONG:
            look = replace(look, is_strong=True)
        elif inline.kind is InlineKind.EMPHASIS:
            look = replace(look, is_emphasised=True)
        elif inline.kind is InlineKind.STRIKE:
            look = replace(look, is_struck=True)
        if inline.children:
            stack += [(child, look) for child in reversed(inline.children)]
        else:
            text_runs.append(_run(inline, look, links, line, commands))
    groups = groupby(text_runs, key=lambda run: id(run.target) if run.target else 0)
    grouped = (tuple(runs) for _, runs in groups)
    return tuple(Phrase(runs[0].target, runs) for runs in grouped)


def _run(
    inline: Inline, look: TextRun, links: PageLinks, line: int, commands: Collection[str]
) -> TextRun:
    match inline.kind:
        case InlineKind.IMAGE:
            shown = links.picture(inline.target, line)
            name = inline.target.rstrip("/").rsplit("/", 1)[-1]
            return replace(
                look,
                kind=inline.kind,
                text=inline.text or name,
                target=look.target or shown,
                picture=shown.picture,
            )
        case InlineKind.LINK:
            return replace(look, text=inline.text or inline.target)
        case InlineKind.CODE:
            is_command = look.target is None and inline.text.strip() in commands
            return replace(look, kind=inline.kind, text=inline.text, is_command=is_command)
        case InlineKind.KEYS | InlineKind.BREAK:
            return replace(look, kind=inline.kind, text=inline.text)
    return replace(look, text=inline.text)

"""The words of a block as a template prints them: pieces in a row, none inside another."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import groupby

from services.gateway.ui.page_links import PageLinks, ShownPicture, Target
from services.knowledge.page.block import Inline, InlineKind, Words


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one look."""

    kind: InlineKind
    text: str = ""
    target: Target | None = None
    """Where a click on it leads."""
    is_strong: bool = False
    is_emphasised: bool = False
    is_struck: bool = False
    is_command: bool = False
    """Of code: whether it is typed, so that it is copied and its gaps are filled."""
    picture: ShownPicture | None = None
    """Of an image that is here."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Runs of one link, or of none."""

    target: Target | None
    runs: tuple[Run, ...]


def phrases(
    words: Words, links: PageLinks, line: int, commands: Collection[str] = ()
) -> tuple[Phrase, ...]:
    """Return the words in a row; `line` is where they stand, `commands` what of them is typed."""
    found: list[Run] = []
    waiting = [(each, Run(InlineKind.TEXT)) for each in reversed(words)]
    while waiting:
        inline, look = waiting.pop()
        if inline.kind is InlineKind.LINK:
            look = replace(look, target=links.target(inline.target))
        elif inline.kind is InlineKind.STRONG:
            look = replace(look, is_strong=True)
        elif inline.kind is InlineKind.EMPHASIS:
            look = replace(look, is_emphasised=True)
        elif inline.kind is InlineKind.STRIKE:
            look = replace(look, is_struck=True)
        if inline.children:
            waiting += [(child, look) for child in reversed(inline.children)]
        else:
            found.append(_run(inline, look, links, line, commands))
    groups = groupby(found, key=lambda run: id(run.target) if run.target else 0)
    grouped = (tuple(runs) for _, runs in groups)
    return tuple(Phrase(runs[0].target, runs) for runs in grouped)


def _run(inline: Inline, look: Run, links: PageLinks, line: int, commands: Collection[str]) -> Run:
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

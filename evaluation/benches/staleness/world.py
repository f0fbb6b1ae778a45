"""Pages that are broken on purpose, among all pages of a corpus."""

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from evaluation.material.shown_page import shown_page
from services.kit.files import read_text
from services.workflow.model import Step, Workflow

PAGES = 60
"""That are broken, and as many others."""
_CODE = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"(?<![\w-])[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+(?![\w-])")
_LEAST_OTHERS, _MOST_OTHERS = 2, 12
"""Pages that name a component too: fewer prove nothing, more would be half of the library."""
_RENAMED = "anchorage"


class Break(StrEnum):
    """What is done to a page."""

    NAME = "name"
    """A component that it names is called otherwise on every other page."""
    LINK = "link"
    """The page that it links to is moved away."""
    COMMAND = "command"
    """Its command is not understood in runs."""


@dataclass(frozen=True)
class Broken:
    """A page and what is done to it."""

    page: str
    kind: Break
    lines: frozenset[int]
    """That say it."""
    said: str
    """The name, the link as it is written, or the command."""
    others: tuple[str, ...]
    """The pages that are changed instead of it."""


@dataclass(frozen=True)
class Sample:
    """The pages of a measurement, by their ids."""

    broken: tuple[Broken, ...]
    others: tuple[str, ...]
    """That nothing is done to."""


def sample_of(corpus: Path) -> Sample:
    """Pages with a procedure that has a command, by the hash of their paths, a third each way."""
    texts = {
        path.relative_to(corpus).as_posix(): read_text(path, errors="replace")
        for path in sorted(corpus.rglob("*.md"))
    }
    naming = _naming(texts)
    wanted = {kind: PAGES // len(Break) for kind in Break}
    broken: list[Broken] = []
    others: list[str] = []
    touched: set[str] = set()
    for page in sorted(texts, key=lambda id_: hashlib.sha256(id_.encode()).hexdigest()):
        if page in touched or not _commands(texts[page], page):
            continue
        kinds = [kind for kind in Break if wanted[kind]]
        broken_page = _first_break(page, texts, naming, kinds, {each.page for each in broken})
        if broken_page is not None and not touched & {page, *broken_page.others}:
            broken.append(broken_page)
            wanted[broken_page.kind] -= 1
            touched |= {page, *broken_page.others}
        elif len(others) < PAGES:
            others.append(page)
            touched.add(page)
        if not any(wanted.values()) and len(others) == PAGES:
            break
    return Sample(tuple(broken), tuple(others))


def break_pages(sample: Sample, root: Path) -> None:
    """Rename components on all other pages, and move the pages away that are linked to."""
    for each in sample.broken:
        for other in each.others:
            path = root / other
            if each.kind is Break.NAME:
                path.write_text(_renamed(path.read_text(errors="replace"), each.said))
            elif each.kind is Break.LINK:
                path.rename(
                    path.with_name(f"moved-{hashlib.sha256(other.encode()).hexdigest()}.md")
                )


def is_made_dead(sample: Sample, page: str, link: str) -> bool:
    """Whether a link of another page leads to a page that was moved away, too."""
    leads = posixpath.normpath(posixpath.join(posixpath.dirname(page), link.partition("#")[0]))
    return any(leads in each.others for each in sample.broken if each.kind is Break.LINK)


def workflow_with(text: str, page: str) -> tuple[Workflow, Step] | None:
    """The page as it is shown with its first step that has a command of one line."""
    workflow = shown_page(text, page)
    step = next((each for each in workflow.steps if each.citations and _is_sent(each)), None)
    return (workflow, step) if step else None


def _is_sent(step: Step) -> bool:
    """Whether its command is one line that a shell or a device could be sent."""
    command = step.commands[0] if step.commands else ""
    return "\n" not in command and re.match(r"[\w./]+(?:\s|$)", command) is not None


def _first_break(
    page: str,
    texts: Mapping[str, str],
    naming: Mapping[str, frozenset[str]],
    kinds: Sequence[Break],
    broken: set[str],
) -> Broken | None:
    ways = {
        Break.NAME: lambda: _name_of(page, texts[page], naming),
        Break.LINK: lambda: _link_of(page, texts),
        Break.COMMAND: lambda: _command_of(page, texts[page]),
    }
    candidates = (ways[kind]() for kind in kinds)
    return next((each for each in candidates if each and not broken & set(each.others)), None)


def _naming(texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Which pages have a name anywhere, for names that stand in code of some page."""
    in_code = {name for text in texts.values() for name in _names_in_code(text)}
    having: dict[str, set[str]] = defaultdict(set)
    for page, text in texts.items():
        for name in set(_NAME.findall(text)) & in_code:
            having[name].add(page)
    return {name: frozenset(pages) for name, pages in having.items()}


def _names_in_code(text: str) -> Iterator[str]:
    for code in _CODE.findall(text):
        yield from _NAME.findall(code)


def _lines_with(phrase: str, text: str) -> frozenset[int]:
    return frozenset(n for n, line in enumerate(text.split("\n"), 1) if phrase in line)


def _name_of(page: str, text: str, naming: Mapping[str, frozenset[str]]) -> Broken | None:
    for name in _names_in_code(text):
        others = naming[name] - {page}
        if _LEAST_OTHERS <= len(others) <= _MOST_OTHERS:
            return Broken(page, Break.NAME, _lines_with(name, text), name, tuple(sorted(others)))
    return None


def _renamed(text: str, name: str) -> str:
    return re.sub(
        rf"(?<![\w-]){re.escape(name)}(?![\w-])",
        f"{_RENAMED}-{name[::-1]}",
        text,
        flags=re.IGNORECASE,
    )


_LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s#:]+\.md)(?:#[^)\s]*)?\)")


def _link_of(page: str, texts: Mapping[str, str]) -> Broken | None:
    for number, line in enumerate(texts[page].split("\n"), 1):
        for target in _LINK.findall(line):
            leads = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            if leads in texts and leads != page:
                return Broken(page, Break.LINK, frozenset({number}), target, (leads,))
    return None


def _command_of(page: str, text: str) -> Broken | None:
    example = workflow_with(text, page)
    if example is None:
        return None
    _, step = example
    cited = step.citations[0]
    lines = frozenset(range(cited.start_line, cited.end_line + 1))
    lines |= _lines_with(step.commands[0], text)
    return Broken(page, Break.COMMAND, lines, step.commands[0], ())


def _commands(text: str, page: str) -> bool:
    return workflow_with(text, page) is not None

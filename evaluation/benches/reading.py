"""`bench reading`: a folder read by rules: what breaks, what is lost, how long it takes.

A nested item is a list item inside a list item. It instructs where it begins as an instruction
does, is no entry of a table of contents, and stands in a section that tells steps; it is kept
where a node of a procedure cites its first line.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.measures.figures import Figures, Report
from services.ingestion.converters import reader_of
from services.knowledge.document.markdown import Block, BlockKind, Item, Section, parse
from services.knowledge.document.roles import STEP_ROLES, role_of_heading
from services.knowledge.model import Document
from services.knowledge.screening.document import screened
from services.language.verbs import begins_with_verb
from services.procedure.lowering import lower
from services.procedure.model import Reading
from services.procedure.program.cited_lines import lines_of
from services.procedure.rules import read_by_rules
from services.workflow.lint import is_clean, lint


@dataclass
class Tally:
    """What came of the pages of one set."""

    pages: int = 0
    failed: list[str] = field(default_factory=list)
    """Pages that raised an exception; there may be none."""
    procedures: int = 0
    unsound: int = 0
    """Procedures whose graph has lint errors."""
    nested: int = 0
    kept: int = 0
    seconds: list[float] = field(default_factory=list)

    def figures(self) -> Figures:
        """As a row of the report; shares in percent."""
        return {
            "pages": self.pages,
            "failed": len(self.failed),
            "procedures": self.procedures,
            "lint_clean": _percent(self.procedures - self.unsound, self.procedures),
            "nested_items": self.nested,
            "nested_kept": _percent(self.kept, self.nested),
            "ms_a_page": round(1000 * sum(self.seconds) / max(1, self.pages), 2),
            "slowest_ms": round(1000 * max(self.seconds, default=0.0), 1),
        }


def pages_of(folder: Path) -> list[Document]:
    """The text documents below a folder, as ingestion reads them."""
    found = []
    for path in sorted(folder.rglob("*")):
        id_ = path.relative_to(folder).as_posix()
        reader = reader_of(id_) if path.is_file() else None
        if reader is None or reader.isolated:
            continue
        text = reader.read(path.read_bytes()).text
        document = Document(id=id_, title=path.stem, text=text, content_hash="")
        found.append(screened(document).document)
    return found


def read_all(pages: Iterable[Document], advance: Callable[[], None]) -> dict[str, Tally]:
    """Every page, by its first folder; an exception is one page's, counted and named."""
    tallies: dict[str, Tally] = {}
    for page in pages:
        tally = tallies.setdefault(page.id.partition("/")[0], Tally())
        tally.pages += 1
        started = time.perf_counter()
        try:
            reading = read_by_rules(page.text)
        except Exception as error:  # noqa: BLE001 - the entry point of one page: what raises is looked for
            tally.failed.append(f"{page.id}: {type(error).__name__}")
            continue
        tally.seconds.append(time.perf_counter() - started)
        _count(tally, page.text, reading)
        advance()
    return tallies


def report(tallies: dict[str, Tally], config: dict[str, object], seconds: float) -> Report:
    """By set and over all pages, with the pages that failed."""
    whole = Tally()
    for tally in tallies.values():
        for name, value in vars(tally).items():
            setattr(whole, name, getattr(whole, name) + value)
    return Report.model_validate(
        {
            "benchmark": "reading",
            "overall": whole.figures(),
            "sets": {name: tally.figures() for name, tally in tallies.items()},
            "config": config | {"failed": whole.failed},
            "seconds": seconds,
            "mean_over": "pages",
        }
    )


def _count(tally: Tally, text: str, reading: Reading) -> None:
    tally.procedures += len(reading.procedures)
    tally.unsound += sum(not is_clean(lint(lower(p, "page"))) for p in reading.procedures)
    cited = {line for procedure in reading.procedures for line in lines_of(procedure)}
    lines = [item.start_line for item in nested_instructions(parse(text).root)]
    tally.nested += len(lines)
    tally.kept += sum(line in cited for line in lines)


def nested_instructions(section: Section, *, tells: bool = False) -> Iterator[Item]:
    """Items inside items that instruct, in sections that tell steps and those below them."""
    role = role_of_heading(section.title)
    tells = role in STEP_ROLES if role else tells
    if tells:
        for block in section.blocks:
            for item in block.items:
                yield from _below(item.blocks)
    for child in section.children:
        yield from nested_instructions(child, tells=tells)


def _below(blocks: Sequence[Block]) -> Iterator[Item]:
    for block in blocks:
        if block.kind is not BlockKind.LIST:
            continue
        for item in block.items:
            if begins_with_verb(item.text) and not _is_link(item):
                yield item
            yield from _below(item.blocks)


def _is_link(item: Item) -> bool:
    """An entry of a table of contents names a section and tells nobody to do it."""
    return any(link.text == item.text for link in item.links)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 100.0

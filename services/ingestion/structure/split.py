"""Splitting of documents into chunks that follow their structure and fit the embedder.

A chunk is a run of whole blocks: sections, paragraphs, list items with the code that belongs to
them, tables. A block is cut only when it alone exceeds the limit: code and tables between lines,
with the fence or the header repeated; a list item between its parts, its first line repeated;
prose between sentences.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.knowledge.document.markdown import (
    Block,
    BlockKind,
    Item,
    MarkdownPage,
    Section,
    parse,
)
from services.knowledge.document.titles import specific_title
from services.knowledge.model import Chunk, Document, Span
from services.language.sentences import cut_anywhere

CountTokens = Callable[[str], int]

_LEAST_SHARE_FOR_TEXT = 0.5
"""Least share of a chunk for its text; a heading path that leaves less is cut."""


@dataclass(frozen=True)
class _Slice:
    """Consecutive lines that must stay together, with their number of tokens."""

    start_line: int
    end_line: int
    text: str
    tokens: int
    path: tuple[str, ...]
    whole: bool = True
    """False for a fragment whose text repeats lines that stand elsewhere."""
    heading: bool = False
    """True for a heading alone: it takes the path of what follows it."""


@dataclass(frozen=True)
class _LinePart:
    """Line of a block that is too long, or a part of such a line."""

    index: int
    text: str
    whole: bool


def split(document: Document, count_tokens: CountTokens, max_tokens: int) -> list[Chunk]:
    """Split a document into chunks, in order; they cover every line that shows when rendered.

    Heading path and text of a chunk together take at most `max_tokens` word pieces.
    """
    page = parse(document.text)
    splitter = _Splitter(page, specific_title(document), count_tokens, max_tokens)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for piece in splitter.pieces(page.root):
        key = "\0".join((document.id, *piece.path, piece.text))
        seen[key] += 1
        span = Span(document_id=document.id, start_line=piece.start_line, end_line=piece.end_line)
        id_ = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:32]
        chunks.append(Chunk(id=id_, span=span, heading_path=piece.path, text=piece.text))
    return chunks


class _Splitter:
    def __init__(self, page: MarkdownPage, title: str, count: CountTokens, limit: int) -> None:
        self._page = page
        self._title = title
        self._count = count
        self._limit = limit

    def pieces(self, section: Section) -> list[_Slice]:
        """Return the chunks of a section and everything below it."""
        path = self._path(section)
        if not section.blocks and not section.children and section.level == 0:
            return []
        whole = self._piece(section.start_line, section.end_line, path)
        if whole.tokens <= self._room(path):
            return [whole]
        own = self._own_pieces(section, path)
        below = [piece for child in section.children for piece in self.pieces(child)]
        return self._pack([*own, *below], path)

    def _path(self, section: Section) -> tuple[str, ...]:
        path = section.heading_path
        if not path or path[0].casefold() != self._title.casefold():
            path = (self._title, *path)
        most = int(self._limit * (1 - _LEAST_SHARE_FOR_TEXT))
        while len(path) > 1 and self._path_tokens(path) > most:
            path = path[1:]
        words = path[0].split()
        while len(words) > 1 and self._path_tokens((" ".join(words), *path[1:])) > most:
            words.pop()
        return (" ".join(words)[: 4 * most], *path[1:])

    def _path_tokens(self, path: Sequence[str]) -> int:
        return self._count(" > ".join(path))

    def _room(self, path: Sequence[str]) -> int:
        return self._limit - self._path_tokens(path)

    def _piece(self, start: int, end: int, path: tuple[str, ...]) -> _Slice:
        text = self._page.text(start, end).strip("\n")
        return _Slice(start, end, text, self._count(text), path)

    def _own_pieces(self, section: Section, path: tuple[str, ...]) -> list[_Slice]:
        """Return the section's own blocks as pieces that fit; the heading goes with the first."""
        out: list[_Slice] = []
        if section.level:
            heading = self._piece(section.start_line, section.start_line, path)
            out.append(replace(heading, heading=True))
        elif self._page.body_line > section.start_line:
            out.append(self._piece(section.start_line, self._page.body_line - 1, path))
        for block in section.blocks:
            out.extend(self._block_pieces(block, path))
        fitting: list[_Slice] = []
        for piece in out:
            # A heading longer than a chunk is cut like prose.
            fits = piece.tokens <= self._room(path)
            fitting.extend([piece] if fits else self._by_lines(piece, head=0, tail=""))
        return fitting

    def _block_pieces(self, block: Block, path: tuple[str, ...]) -> Iterator[_Slice]:
        whole = self._piece(block.start_line, block.end_line, path)
        if whole.tokens <= self._room(path):
            yield whole
        elif block.kind is BlockKind.LIST:
            for item in block.items:
                yield from self._item_pieces(item, path)
        elif block.kind is BlockKind.QUOTE and block.blocks:
            for child in block.blocks:
                yield from self._block_pieces(child, path)
        elif block.kind is BlockKind.CODE:
            last = self._page.text(block.end_line, block.end_line)
            tail = last if last.strip().startswith(("```", "~~~")) else ""
            yield from self._by_lines(whole, head=1, tail=tail)
        elif block.kind is BlockKind.TABLE:
            yield from self._by_lines(whole, head=2, tail="")
        else:
            yield from self._by_lines(whole, head=0, tail="")

    def _item_pieces(self, item: Item, path: tuple[str, ...]) -> Iterator[_Slice]:
        whole = self._piece(item.start_line, item.end_line, path)
        if whole.tokens <= self._room(path):
            yield whole
            return
        lead = self._page.text(item.start_line, item.start_line)
        room = self._room(path) - self._count(lead)
        parts = (piece for block in item.blocks for piece in self._block_pieces(block, path))
        for piece in self._pack(list(parts), path):
            if piece.start_line > item.start_line and piece.tokens <= room:
                text = f"{lead}\n{piece.text}"
                yield _Slice(
                    piece.start_line, piece.end_line, text, self._count(text), path, whole=False
                )
            else:
                yield piece

    def _by_lines(self, piece: _Slice, *, head: int, tail: str) -> Iterator[_Slice]:
        """Cut between lines; repeat the first `head` lines and `tail` in every part.

        The header of a wide table is not repeated if it leaves less than half of a part for rows.
        """
        lines = piece.text.split("\n")
        is_fence = head == 1 and tail
        first = "\n".join(lines[:head]) if head == 2 or is_fence else ""
        if 2 * self._count(first) > self._room(piece.path):
            first = ""
        skipped = head if first else 0
        room = max(1, self._room(piece.path) - self._count(first) - self._count(tail))
        body = lines[skipped : len(lines) - 1 if is_fence else len(lines)]
        offset = piece.start_line + skipped
        for run in self._runs(body, room):
            text = "\n".join(part for part in (first, *(part.text for part in run), tail) if part)
            whole = not first and all(part.whole for part in run)
            start, end = offset + run[0].index, offset + run[-1].index
            yield _Slice(start, end, text, self._count(text), piece.path, whole)

    def _runs(self, lines: Sequence[str], room: int) -> Iterator[list[_LinePart]]:
        """Yield runs of lines that fit; runs without text are left out."""
        run: list[_LinePart] = []
        used = 0
        for index, line in enumerate(lines):
            for text in self._line_parts(line, room):
                cost = self._count(text)
                if run and used + cost > room:
                    yield run
                    run, used = [], 0
                run.append(_LinePart(index, text, whole=text == line))
                used += cost
        if any(part.text.strip() for part in run):
            yield run

    def _line_parts(self, line: str, room: int) -> list[str]:
        """Return the line, or its sentences, words or letters if it alone exceeds the room."""
        if self._count(line) <= room:
            return [line]
        parts: list[str] = []
        for sentence in cut_anywhere(line):
            fits = self._count(sentence) <= room
            parts.extend([sentence] if fits else self._word_runs(sentence.split(), room))
        return parts

    def _word_runs(self, words: Iterable[str], room: int) -> Iterator[str]:
        run: list[str] = []
        used = 0
        for word in words:
            # A word piece holds at least one letter, so `room` letters always fit.
            step = len(word) if self._count(word) <= room else room
            for part in (word[start : start + step] for start in range(0, len(word), step)):
                cost = self._count(part)
                if run and used + cost > room:
                    yield " ".join(run)
                    run, used = [], 0
                run.append(part)
                used += cost
        if run:
            yield " ".join(run)

    def _pack(self, pieces: list[_Slice], path: tuple[str, ...]) -> list[_Slice]:
        """Join neighbours that fit together, under the path they share."""
        out: list[_Slice] = []
        for piece in pieces:
            joined = self._join(out[-1], piece, path) if out else None
            if joined:
                out[-1] = joined
            else:
                out.append(piece)
        return out

    def _join(self, left: _Slice, right: _Slice, path: tuple[str, ...]) -> _Slice | None:
        if not (left.whole and right.whole and left.end_line < right.start_line):
            return None
        shared = right.path if left.heading or left.path == right.path else path
        room = self._room(shared)
        if left.tokens + right.tokens > room:
            return None
        joined = self._piece(left.start_line, right.end_line, shared)
        return joined if joined.tokens <= room else None

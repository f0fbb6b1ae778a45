"""Decay between pages: links that lead nowhere, and names that no other page has any more."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.contracts.ingestion import Decay, DecayKind
from services.ingestion.survey.mentions import MentionKind
from services.ingestion.tables import IngestedRow, MentionRow, SurveyedRow
from services.kit.batches import batches
from services.knowledge.document.links import LinkResolver

LEAST_OTHERS = 2
"""Least number of pages that must have named something: one shared word is chance."""
SHOWN_DOCUMENTS = 10
MOST_NAMES = 200
_SAME_SHARE = 0.6
"""Least share of the pages that replaced a name which name the same new thing instead."""
_MOST_DEAD = 0.1
"""Largest share of dead links into a folder; above it the folder was not ingested whole."""
_PAGE_SUFFIXES = (".md", ".markdown", ".rst", ".txt", ".adoc")
"""Suffixes of links that mean a page, and no file that a site generates."""

TextsOf = Callable[[Sequence[str]], Iterable[str]]


def dead_links(session: Session) -> Iterator[Decay]:
    """Yield links that led to a document once, and links to pages that surely do not exist.

    A link that never led anywhere is dead if it names a page in a folder of the library, the root,
    which is still on this disk, has no such file, and nearly all other links lead somewhere: of a
    library that is a part of something larger, nobody can tell.
    """
    whole = select(IngestedRow.document_id, IngestedRow.source)
    rows_of_all = session.execute(whole.where(IngestedRow.content_hash != "")).tuples()
    ids = dict(rows_of_all.all())
    resolver = LinkResolver(ids)
    folders = {posixpath.dirname(id_) for id_ in ids}
    live = (MentionRow.kind == MentionKind.LINK.value, MentionRow.gone_at.is_(None))
    ordered = select(MentionRow).where(*live).order_by(MentionRow.document_id, MentionRow.line)
    rows = [row for row in session.scalars(ordered) if row.document_id in ids]
    missed = {row.what for row in rows if _is_missing(row, ids[row.document_id], folders)}
    missed = {what for what in missed if resolver.resolve(what) is None}
    unsure = _folders_in_part({row.what for row in rows}, missed)
    for row in rows:
        if resolver.resolve(row.what) is not None:
            continue
        if row.led_to:
            since = row.led_until or row.line_at
            yield _link(row, since, (row.led_to,), _moved(session, row.led_to, ids))
        elif row.what in missed and _top(row.what) not in unsure:
            yield _link(row, row.line_at, (), _same_name(row.what, ids))


def orphan_names(session: Session, texts_of: TextsOf) -> Iterator[Decay]:
    """Yield names that all of `LEAST_OTHERS` or more other pages gave up after this line.

    The other pages may have had it in prose; here it stands in code, since words that prose joins
    come and go.
    """
    of_names = MentionRow.kind == MentionKind.NAME.value
    live = func.count().filter(MentionRow.gone_at.is_(None))
    left = func.count().filter(MentionRow.gone_at.is_not(None))
    candidates = (
        select(MentionRow.what)
        .where(of_names)
        .group_by(MentionRow.what)
        .having(live == 1, left >= LEAST_OTHERS)
        .order_by(MentionRow.what)
        .limit(MOST_NAMES)
    )
    names = session.scalars(candidates).all()
    orphans: list[tuple[MentionRow, list[MentionRow]]] = []
    for what in names:
        rows = session.scalars(select(MentionRow).where(of_names, MentionRow.what == what)).all()
        here = next(row for row in rows if row.gone_at is None)
        others = [row for row in rows if row.gone_at and row.gone_at >= here.line_at]
        if here.in_code and len(others) >= LEAST_OTHERS:
            orphans.append((here, others))
    if not orphans:
        return
    elsewhere = _pages_with([here.what for here, _ in orphans], session, texts_of)
    for here, others in orphans:
        if elsewhere[here.what.casefold()] > 1:
            continue
        yield Decay(
            kind=DecayKind.NAME,
            document_id=here.document_id,
            line=here.line,
            said=here.said,
            was=tuple(sorted(row.document_id for row in others))[:SHOWN_DOCUMENTS],
            others=len(others),
            instead=_successor(session, others),
            since=max(row.gone_at for row in others if row.gone_at),
        )


def _link(row: MentionRow, since: datetime, was: tuple[str, ...], instead: str) -> Decay:
    return Decay(
        kind=DecayKind.LINK,
        document_id=row.document_id,
        line=row.line,
        said=row.said,
        was=was,
        others=len(was),
        instead=instead,
        since=since,
    )


def _moved(session: Session, document_id: str, ids: Mapping[str, str]) -> str:
    """Return where the text of a removed document stands now, or nothing if nobody can tell."""
    before = session.get(SurveyedRow, document_id)
    if before is not None:
        same = select(IngestedRow.document_id).where(
            IngestedRow.text_hash == before.text_hash, IngestedRow.content_hash != ""
        )
        ids_of_text = session.scalars(same.order_by(IngestedRow.document_id).limit(2)).all()
        if len(ids_of_text) == 1:
            return ids_of_text[0]
    return _same_name(document_id, ids)


def _same_name(path: str, ids: Iterable[str]) -> str:
    """Return the only document whose file has this name, or nothing."""
    name = posixpath.basename(path).casefold()
    matches = [id_ for id_ in ids if posixpath.basename(id_).casefold() == name]
    return matches[0] if len(matches) == 1 else ""


def _folders_in_part(links: Iterable[str], missed: set[str]) -> set[str]:
    """Return the outermost folders with so many dead links that they are incomplete."""
    counted: dict[str, list[bool]] = defaultdict(list)
    for what in links:
        counted[_top(what)].append(what in missed)
    return {top for top, each in counted.items() if each.count(True) > _MOST_DEAD * len(each)}


def _top(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def _is_missing(row: MentionRow, source: str, folders: set[str]) -> bool:
    if row.said.startswith("/") or not row.what.lower().endswith(_PAGE_SUFFIXES):
        return False
    root = Path(source)
    is_in_library = posixpath.dirname(row.what) in folders and root.is_dir()
    return is_in_library and not (root / row.what).exists()


def _pages_with(names: Sequence[str], session: Session, texts_of: TextsOf) -> Counter[str]:
    """Count the documents that have each name anywhere, whatever its case, also in prose."""
    pattern = re.compile(
        rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])", re.IGNORECASE
    )
    counted: Counter[str] = Counter()
    ids = session.scalars(select(IngestedRow.document_id)).all()
    for some in batches(ids):
        for text in texts_of(some):
            counted.update({name.casefold() for name in pattern.findall(text)})
    return counted


def _successor(session: Session, others: Sequence[MentionRow]) -> str:
    """Return what most of them name since they gave the name up, or nothing if they differ."""
    by_page: dict[str, set[str]] = defaultdict(set)
    for row in others:
        fresh = select(MentionRow.what).where(
            MentionRow.document_id == row.document_id,
            MentionRow.kind == MentionKind.NAME.value,
            MentionRow.gone_at.is_(None),
            MentionRow.line_at == row.gone_at,
        )
        by_page[row.document_id] |= set(session.scalars(fresh))
    counted = Counter(name for names in by_page.values() for name in names)
    most = counted.most_common(2)
    is_one = most and (len(most) == 1 or most[0][1] > most[1][1])
    return most[0][0] if is_one and most[0][1] >= max(2, _SAME_SHARE * len(by_page)) else ""

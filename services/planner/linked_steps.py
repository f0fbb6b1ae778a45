"""A page that lists its steps as links, each leading to a page that describes one step."""

from collections.abc import Sequence

from services.knowledge.document.links import LinkResolver
from services.knowledge.document.markdown import BlockKind
from services.knowledge.model import IncidentNode, SectionRole
from services.planner.article import Article, Part, articles_of
from services.planner.code import commands_of
from services.planner.draft import Ask, Do, Draft, Element, End
from services.planner.sentences import lead, sentences

_LEAST_STEPS = 3


def linked_steps(article: Article, linked: Sequence[IncidentNode]) -> Draft | None:
    """One check per linked page, its remedy where it fails; None below three such pages."""
    pages = {a.document_id: a for node in linked for a in articles_of(node)}
    resolver = LinkResolver(pages)
    found = [resolver.resolve(link) for link in article.node.linked_documents]
    steps = [pages[id_] for id_ in dict.fromkeys(found) if id_]
    if len(steps) < _LEAST_STEPS:
        return None
    elements = [element for step in steps for element in _step(step)]
    if not any(isinstance(element, Ask) for element in elements):
        return None
    last = elements[-1]
    if isinstance(last, Do):
        elements[-1] = End(last.text, last.cites, last.commands)
    else:
        elements.append(End("No fault found by these checks: escalate", article.description))
    return Draft(
        strategy="linked_steps",
        title=article.name,
        elements=tuple(elements),
        fitness=0.95,
        document_ids=(article.document_id, *(step.document_id for step in steps)),
        node_ids=(article.node.id, *(step.node.id for step in steps)),
    )


def _step(page: Article) -> list[Element]:
    described = _described(page)
    if described is None:
        return []
    text, part = described
    remedies = page.of_role(SectionRole.REMEDY)
    remedy = _remedy(remedies[0]) if remedies else None
    if remedy is None:
        return [Do(text, (part.span,))]
    return [Ask(f"{text} - passed?", no=(remedy,), cites=(part.span,))]


def _described(page: Article) -> tuple[str, Part] | None:
    """The sentence that says what the step does: under a heading rather than above all."""
    parts = page.of_role(SectionRole.MEANING, SectionRole.CHECK, SectionRole.PROCEDURE)
    for part in sorted(parts, key=lambda each: -each.depth):
        for block in part.blocks:
            if block.kind is BlockKind.PARAGRAPH and len(block.text.split()) > 1:
                return lead(block.text, words=48), part
    return (page.node.summary or page.name, parts[0]) if parts else None


def _remedy(part: Part) -> End | None:
    text = " ".join(b.text for b in part.blocks if b.kind is BlockKind.PARAGRAPH)
    parts = sentences(text)
    if not parts:
        return None
    nested = [b for block in part.blocks for b in block.walk()]
    said = " ".join(parts[:3])
    return End(" ".join(said.split()[:45]).rstrip(" :"), (part.span,), commands_of(nested))

"""Steps in the order of the page, with decisions where its sentences state conditions."""

from collections.abc import Iterable, Iterator, Sequence

from services.knowledge.document.roles import STEP_ROLES
from services.knowledge.model import SectionRole
from services.planner.article import Article, Part
from services.planner.chain import chained, cut
from services.planner.draft import Ask, Draft, Element, End, GoTo
from services.planner.ends import closing, opening
from services.planner.fault_pairs import row_chain
from services.planner.references import References, of_headings, of_lists, resolved
from services.planner.scenarios import Scenario, scenarios
from services.planner.section import part_elements
from services.planner.sentences import question

_TOLD_ELSEWHERE = frozenset(
    {SectionRole.MEANING, SectionRole.SYMPTOM, SectionRole.CAUSE, SectionRole.NOTE}
)
_MOST_STEPS = 60
_MOST_SCENARIO_STEPS = 5


def ordered_procedure(article: Article) -> Draft | None:
    """The page's steps one after the other; None when it has none."""
    elements = _without_doubles(_elements(article))
    if not elements:
        return None
    last = closing(article)
    if len(elements) > _MOST_STEPS:
        beyond = elements[_MOST_STEPS]
        last = End(f"Go on in the document: {beyond.text}", beyond.cites)
    numbered = any(block.ordered for part in article.parts for block in part.blocks)
    return Draft(
        strategy="procedure",
        title=article.name,
        elements=(opening(article), *elements[:_MOST_STEPS], last),
        fitness=0.7 if numbered else 0.6,
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def _elements(article: Article) -> Iterator[Iterable[Element]]:
    """Part by part; sections that each treat one fault of several become one chain of questions."""
    found = scenarios(article)
    roles = _step_roles(article)
    numbered = of_lists(article.parts)
    inside = {id(part) for scenario in found for part in scenario.parts}
    asked = False
    for part in article.parts:
        if id(part) in inside:
            if not asked:
                yield _resolved(_scenario_chain(found), of_headings(article.parts))
            asked = True
            continue
        told = part_elements(part) if part.role in roles else _rows(part)
        for known in (of_headings(article.parts, part), of_lists([part]), numbered):
            told = _resolved(told, known)
        yield told


def _resolved(elements: Iterable[Element], known: References) -> list[Element]:
    return [resolved(element, known) for element in elements]


def _rows(part: Part) -> list[Element]:
    return [asked for block in part.blocks for asked in row_chain(part, block)]


def _step_roles(article: Article) -> frozenset[SectionRole]:
    """Where steps are looked for: wherever something is told, on a page whose form is unknown."""
    return STEP_ROLES if article.of_role(*STEP_ROLES) else STEP_ROLES | _TOLD_ELSEWHERE


def _scenario_chain(found: Sequence[Scenario]) -> tuple[Element, ...]:
    return chained([_scenario_question(scenario) for scenario in found])


def _scenario_question(scenario: Scenario) -> Ask:
    steps = (part_elements(part) for part in scenario.parts if part.role in STEP_ROLES)
    yes = cut(_without_doubles(steps), _MOST_SCENARIO_STEPS)
    cites = tuple(part.span for part in scenario.parts[:2])
    return Ask(question(scenario.heading, words=24), yes, (), cites)


def _without_doubles(sections: Iterable[Iterable[Element]]) -> list[Element]:
    """The elements of all sections; what an earlier section said is not said again.

    Within a section a repeated step is meant: look, change, look again. A question is asked again
    where its answers lead to something else, and a jump is one from its own section.
    """
    seen: set[_Meaning] = set()
    kept: list[Element] = []
    for section in sections:
        said: set[_Meaning] = set()
        for element in section:
            key = _meaning(element)
            if key not in seen or isinstance(element, GoTo):
                kept.append(element)
            said.add(key)
        seen.update(said)
    return kept


_Meaning = tuple[object, ...]


def _meaning(element: Element) -> _Meaning:
    """What the element tells to do, wherever it stands."""
    text = " ".join(element.text.casefold().split())
    if not isinstance(element, Ask):
        return (text,)
    return (text, *(tuple(map(_meaning, branch)) for branch in (element.yes, element.no)))

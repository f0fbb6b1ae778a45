"""Revisions of a run: what catalogue, ticket and pages say now, held against what was shown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.execution.approved_steps import DocumentTextSource
from services.execution.bindings.binding import Binding, Origin
from services.execution.bindings.store import ApprovedBinding
from services.execution.bindings.targets import choose_target
from services.execution.runs.events import NewEvent, RunEventKind, StepVisit
from services.execution.runs.moves import UNDO_PREFIX
from services.execution.runs.run import Basis, CitedPassage, Run, RunTicket, ShownDifference
from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.target import Target
from services.execution.tools.tool import Tool, conditions_of_tools, with_referenced
from services.kit.observability.redaction import redact_field
from services.knowledge.screening.document import hash_of
from services.workflow.model import Step

WITHDRAWN = "nobody approves any more how it is carried out"
MOST_CHARACTERS = 2_000
"""Most characters of a passage, and of one side of a difference."""
_ORIGINS = {
    Origin.LITERAL: "is",
    Origin.LABEL: "from the label",
    Origin.FIELD: "from the field",
    Origin.PERSON: "from a person",
}
_CREDENTIALS = {"key_file", "password_file", "token_file"}


@dataclass(frozen=True)
class Revisions:
    """Finder of what has changed under a change that is not sent yet."""

    catalogue: Callable[[], Catalogue]
    ticket_of: Callable[[str], RunTicket]
    """Ticket as it is now, by its id."""
    texts: DocumentTextSource
    approved: Callable[[Sequence[str]], Mapping[str, ApprovedBinding]]
    """Bindings that somebody vouches for, by the keys of their steps."""

    def find(self, run: Run, place: StepVisit) -> NewEvent | None:
        """Return the event that revises the run's basis of the change at a place, if it differs.

        What the catalogue does not have any more, or cannot be read, is refused elsewhere.

        Raises:
            FlowXpertError: The ticket cannot be read now.
        """
        step = run.workflow.by_id[place[0].removeprefix(UNDO_PREFIX)]
        binding = run.binding_of.get(step.id)
        try:
            catalogue = self.catalogue()
        except BadCatalogueError:
            return None
        if binding is None or binding.tool not in catalogue.by_name:
            return None
        is_of_page = not run.is_by_hand and not place[0].startswith(UNDO_PREFIX)
        basis = None
        if is_of_page and (key := run.binding_keys.get(step.id)):
            stored = self.approved([key]).get(key)
            if stored is None:
                basis = Basis(not_changing={step.id: WITHDRAWN})
            elif stored.binding.tool in catalogue.by_name:
                binding = stored.binding.model_copy(update={"step": step.id})
        basis = basis or self._present(run, step, binding, catalogue, is_of_page=is_of_page)
        differences = list(_differences(run, step, basis))
        if not differences:
            return None
        facts = {
            **basis.model_dump(mode="json"),
            "differences": [each.model_dump() for each in differences],
        }
        return NewEvent(RunEventKind.REVISED, place, facts)

    def _present(
        self, run: Run, step: Step, binding: Binding, catalogue: Catalogue, *, is_of_page: bool
    ) -> Basis:
        """Return what is not as the run has it."""
        tools = with_referenced(catalogue.by_name, [binding.tool])
        labels, target = dict[str, str](), run.targets.get(step.id, "")
        ticket = self.ticket_of(run.ticket.id)
        pages = PageBasis(step, self.texts) if is_of_page and step.id in run.passages else None
        if is_of_page:
            names = {a.value for a in binding.arguments.values() if a.origin is Origin.LABEL}
            names.add(binding.target or catalogue.tool(binding.tool).label)
            labels = {
                name: ticket.labels.get(name, "")
                for name in sorted(names)
                if ticket.labels.get(name, "") != run.ticket.labels.get(name, "")
            }
            named_target = choose_target(
                binding, catalogue, {**run.ticket.labels, **ticket.labels}
            ).target
            target = named_target.name if named_target else ""
        named = targets_of(catalogue, tools, [target])
        return Basis(
            bindings=() if _call_of(binding) == _call_of(run.binding_of[step.id]) else (binding,),
            tools=tuple(
                each
                for each in tools
                if (before := run.tool_named.get(each.name)) is None or before.digest != each.digest
            ),
            targets={} if target == run.targets.get(step.id, "") else {step.id: target},
            target_digests={
                each.name: each.digest
                for each in named
                if run.target_digests.get(each.name) != each.digest
            },
            definitions={
                each.name: definition_of(each)
                for each in named
                if run.target_digests.get(each.name) != each.digest
            },
            labels=labels,
            resolved=None if ticket.resolved == run.ticket.resolved else ticket.resolved,
            pages={d: h for d, h in pages.hashes.items() if run.pages.get(d) != h} if pages else {},
            passages={step.id: pages.passages}
            if pages and pages.passages != run.passages.get(step.id)
            else {},
        )


class PageBasis:
    """Text of the pages that a step cites: its hash, and the cited lines."""

    def __init__(self, step: Step, texts: DocumentTextSource) -> None:
        cited = {each.document_id for each in step.citations}
        page_texts = {id_: texts.text_of(id_) or "" for id_ in sorted(cited)}
        self.hashes = {id_: hash_of(text) if text else "" for id_, text in page_texts.items()}
        self.passages = tuple(
            CitedPassage(
                citation=each,
                text="\n".join(
                    page_texts[each.document_id].split("\n")[each.start_line - 1 : each.end_line]
                )[:MOST_CHARACTERS],
            )
            for each in step.citations
        )


def targets_of(catalogue: Catalogue, tools: Iterable[Tool], names: Iterable[str]) -> list[Target]:
    """Return these targets, and others that the tools' conditions look at."""
    wanted = {*names, *(condition.on for condition in conditions_of_tools(tools))}
    by_name = catalogue.targets_by_name
    return [by_name[name] for name in sorted(wanted) if name in by_name]


def definition_of(target: Target) -> dict[str, str]:
    """Return the definition of a target in words, without its credentials."""
    leaves = _leaves("", target.model_dump(mode="json", exclude=_CREDENTIALS | {"name"}))
    return {name: str(redact_field(name, value)) for name, value in leaves.items()}


def _differences(run: Run, step: Step, basis: Basis) -> Iterator[ShownDifference]:
    """Yield in words what of a basis is not as the run has it."""
    for name, value in basis.labels.items():
        was = run.ticket.labels.get(name, "")
        yield ShownDifference(what=f"label {name} of the ticket", was=was, now=value)
    was = _call_of(run.binding_of[step.id])
    for now in (*map(_call_of, basis.bindings), *basis.not_changing.values()):
        yield ShownDifference(what="how the step is carried out", was=was, now=now)
    if basis.resolved is not None:
        was, now = (
            f"resolved since {t}" if t else "open" for t in (run.ticket.resolved, basis.resolved)
        )
        yield ShownDifference(what="the ticket", was=was, now=now)
    if step.id in basis.targets:
        unknown = "none that the catalogue has"
        was, now = run.targets.get(step.id, "") or unknown, basis.targets[step.id] or unknown
        yield ShownDifference(what="target", was=was, now=now)
    for tool in basis.tools:
        before = run.tool_named.get(tool.name)
        yield from _between(
            f"tool {tool.name}",
            _leaves("", before.model_dump(mode="json")) if before else {},
            _leaves("", tool.model_dump(mode="json")),
        )
    for name, definition in basis.definitions.items():
        if name not in run.target_digests:
            continue  # it was no target of the run before
        differing = list(_between(f"target {name}", run.definitions.get(name, {}), definition))
        yield from differing or [
            ShownDifference(what=f"credentials of {name}", was="one file", now="another file")
        ]
    yield from _page_differences(run, step, basis)


def _call_of(binding: Binding) -> str:
    """Return the call of a binding in words: its tool, and where target and arguments come from."""
    on = f" on the target of {binding.target}" if binding.target else ""
    arguments = (
        f"{name} {_ORIGINS[argument.origin]} {argument.value}".rstrip()
        for name, argument in sorted(binding.arguments.items())
    )
    return f"{binding.tool}{on}: {', '.join(arguments)}".rstrip(": ")


def _page_differences(run: Run, step: Step, basis: Basis) -> Iterator[ShownDifference]:
    changed = set[str]()
    now_cited = basis.passages.get(step.id, ())
    for before, now in zip(run.passages.get(step.id, ()), now_cited, strict=False):
        if before.text != now.text:
            cited = now.citation
            changed.add(cited.document_id)
            what = f"page {cited.document_id}, line {cited.start_line}"
            yield ShownDifference(what=what, was=before.text, now=now.text)
    for document_id, text_hash in basis.pages.items():
        if document_id in run.pages and document_id not in changed:
            yield ShownDifference(
                what=f"page {document_id}, elsewhere than in the lines of this step",
                was=f"text {run.pages[document_id][:12]}",
                now=f"text {text_hash[:12]}" if text_hash else "gone",
            )


def _between(
    what: str, was: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[ShownDifference]:
    for name in dict.fromkeys((*was, *now)):
        sides = was.get(name, "")[:MOST_CHARACTERS], now.get(name, "")[:MOST_CHARACTERS]
        if was.get(name, "") != now.get(name, ""):
            yield ShownDifference(what=f"{what}: {name}", was=sides[0], now=sides[1])


def _leaves(name: str, value: Any) -> dict[str, str]:  # noqa: ANN401 - of a dumped definition
    """Return the values within a dumped definition as texts, by their dotted names."""
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        value = dict(enumerate(value, 1))
    if isinstance(value, dict):
        leaves: dict[str, str] = {}
        for key, each in value.items():
            leaves |= _leaves(f"{name}.{key}" if name else str(key), each)
        return leaves
    if isinstance(value, list):
        return {name: " ".join(map(str, value))}
    return {name: "" if value is None else str(value)}

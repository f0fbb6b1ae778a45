"""A page as its owner sees it, with its boxes and what a reading says of each block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import Response
from markupsafe import Markup

from services.contracts.execution import OrphanedBinding
from services.contracts.readings import BoxCorrection, ProcedureState, ReadingDetail
from services.kit.access.needs import Need, needs
from services.knowledge.page.block import Block
from services.runbook.checklist.build import checklist_of_page, reading_from_boxes
from services.runbook.checklist.places import box_with_commands
from services.runbook.checklist.shown import boxes_of, page_of
from services.runbook.editing.block_edits import ListMode
from services.runbook.editing.block_operations import own_condition
from services.runbook.ports import ReadingState
from services.web.ui.forms import form_route, redirect_to
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.block_states import BlockState, PageStates
from services.web.ui.knowledge.readings.views import draw, procedure_views
from services.web.ui.page_links import links_with_pictures, pictures_from
from services.web.ui.ticket.page_pieces import BlockPiece, PagePieces
from services.workflow.model import Workflow


class OrphanedBindingAtBox(NamedTuple):
    """A binding whose step is gone, and the box for which it is proposed again."""

    orphan: OrphanedBinding
    box: str = ""
    """First instruction of the box; empty unless exactly one box has its commands."""


def create_box_correction_form(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the form that corrects boxes of pages."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/boxes")
    @form_route()
    @needs(Need.APPROVE)
    def box_of_document(
        document: Annotated[str, Query(max_length=1024)],
        key: Annotated[str, Form(max_length=40)],
        is_step: Annotated[bool | None, Form()] = None,
    ) -> Response:
        """Store whether a block is a step for tickets to come; None removes the correction."""
        backend.readings().correct_box(
            BoxCorrection(document_id=document, key=key, is_step=is_step)
        )
        text_hash = backend.services.ingestion.contents(document).document.text_hash
        query = urlencode({"document": document})
        return redirect_to("knowledge", "readings", text_hash, at=f"?{query}#at-{key}")

    return router


@dataclass(frozen=True)
class OwnPage:
    """A page with its boxes, conditions and notes, for its owner to change at each block."""

    document_id: str
    title: str
    pieces: tuple[BlockPiece, ...]
    states: Mapping[str, BlockState]
    list_modes: Mapping[str, ListMode]
    drawings: tuple[Markup, ...]
    """The procedures as they are drawn, each step a link to its block."""
    block: str
    """Key of the block whose forms are open; empty for none."""
    marked: Mapping[str, Sequence[object]]
    """Doubts at their blocks, by key."""

    @property
    def boxes(self) -> int:
        """Number of blocks that are a step."""
        return sum(each.is_step for each in self.states.values())

    def is_switched(self, block: Block) -> bool:
        """Return True if it matters how the items of a list go together."""
        states = [self.states[item.key] for item in block.children]
        steps = [each for each in states if each.is_step or each.drawn or each.chips]
        return block.key in self.list_modes or len(steps) > 1

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Keys and labels of the blocks with words, in the order of the page."""
        return [(key, each.label) for key, each in self.states.items() if each.label]

    def step_above(self, block: Block) -> str:
        """Return the key of the nearest block above that is a step; empty if there is none."""
        keys = list(self.states)
        above = keys[: keys.index(block.key)]
        return next((key for key in reversed(above) if self.states[key].is_step), "")

    def are_notes(self, block: Block) -> bool:
        """Return True if all items of a list are notes."""
        chips = ([chip.kind for chip in self.states[i.key].chips] for i in block.children)
        return all("note" in kinds for kinds in chips)

    @property
    def condition(self) -> str:
        """The condition in the words of the block whose forms are open, as a question."""
        pieces = (each.block for each in self.pieces if each.block.key == self.block)
        return next((own_condition(each) for each in pieces), "")

    @property
    def above(self) -> list[tuple[str, str]]:
        """Keys and labels down to the block whose forms are open."""
        keys = [key for key, _ in self.labels]
        return self.labels[: keys.index(self.block) + 1] if self.block in keys else []


def boxes_view(
    backend: KnowledgeBackend, detail: ReadingDetail, document: str, block: str
) -> dict[str, Any]:
    """Return the page as its owner sees it, with the corrections of its boxes.

    Beside them are the bindings that were approved for steps that are gone. Documents of one text
    have corrections of their own: those of `document` are shown, or of the first one.
    """
    document_id = document if document in detail.documents else next(iter(detail.documents), "")
    nothing = {"own": None, "procedures": procedure_views(detail), "words_on_boxes": []}
    if not document_id:
        return nothing
    contents = backend.services.ingestion.contents(document_id)
    shown = contents.shown_page
    workflow = checklist_of_page(shown, corrections=contents.boxes, habit=contents.box_habit)
    orphans = [
        OrphanedBindingAtBox(each, "" if detail.reader else _box_for_orphan(each, workflow))
        for each in backend.orphaned_bindings(document_id)
    ]
    if workflow is None:
        return nothing | {"orphans": orphans}
    begun = detail
    if not detail.reading.procedures:
        reading = reading_from_boxes(
            shown.text, document_id, contents.boxes, contents.box_habit, shown.withheld
        )
        states = [
            ProcedureState(title=p.title, state=ReadingState.READ) for p in reading.procedures
        ]
        begun = detail.model_copy(update={"reading": reading, "states": tuple(states)})
    page, procedures = page_of(workflow), procedure_views(begun)
    drawn = [each.workflow for each in procedures]
    states_of_page = PageStates(page, [each.procedure for each in procedures], drawn)
    if not detail.reading.procedures:
        states_of_page.mark_options(boxes_of(workflow))
    links = links_with_pictures(page, document_id, pictures_from(backend.services.ingestion))
    marked: dict[str, list[object]] = {}
    settled = {question.doubt for question in detail.questions}
    for doubt in (each for each in detail.reading.doubts if each.id not in settled):
        marked.setdefault(states_of_page.block_at(doubt.lines, doubt.node), []).append(doubt)
    own = OwnPage(
        document_id=document_id,
        title=shown.title,
        pieces=tuple(PagePieces(page, links, {}, first_level=2).of(page.blocks)),
        states=states_of_page.states,
        list_modes=states_of_page.list_modes,
        drawings=tuple(draw(each, states_of_page.link(n)) for n, each in enumerate(drawn)),
        block=block if block in states_of_page.states else "",
        marked=marked,
    )
    corrections = backend.readings().box_corrections(document_id) if contents.boxes else []
    return {
        "own": own,
        "procedures": procedures,
        "corrections": {},
        "may_operate": False,
        "words_on_boxes": corrections,
        "orphans": orphans,
    }


def _box_for_orphan(orphan: OrphanedBinding, workflow: Workflow | None) -> str:
    """Return the first instruction of the box for which a binding is proposed again, else ""."""
    if workflow is None or orphan.changes:
        return ""
    box = box_with_commands(workflow, orphan.commands)
    return box.text if box else ""

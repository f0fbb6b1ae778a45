"""What a reading's forms send; the page comes again afterwards, with words where it was refused."""

import json
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import Response

from services.contracts.readings import AnswerRequest, ApprovalRequest, ReadingDetail, Readings
from services.gateway.ui.forms import show
from services.gateway.ui.knowledge.known import Known
from services.gateway.ui.knowledge.readings.pages import shown
from services.kit.access.needs import Need, needs
from services.kit.errors import ConflictError, InvalidInputError
from services.procedure.checking.check import UnusableReadingError, reading_given
from services.procedure.model import Reading

_Revision = Annotated[str, Form(max_length=64)]
_Place = Annotated[int, Form(ge=0)]


def create_reading_forms(known: Known) -> APIRouter:
    """The forms, over what is known."""
    router = APIRouter(include_in_schema=False)

    @router.post("/knowledge/readings/{text_hash}/approvals")
    @needs(Need.APPROVE)
    def approval_of_page(
        text_hash: str,
        procedure: _Place,
        revision: _Revision,
        offered: Annotated[str, Form(max_length=1)] = "",
        doubts: _Place = 0,
    ) -> Response:
        """Vouch for a procedure as it was seen, its open doubts too."""
        request = ApprovalRequest(
            procedure=procedure,
            offered=bool(offered),
            revision=revision,
            doubts=None if offered else doubts,
        )
        return _changed(known, text_hash, lambda readings: readings.approve(text_hash, request))

    @router.post("/knowledge/readings/{text_hash}/beginnings")
    @needs(Need.APPROVE)
    def beginning_of_page(text_hash: str) -> Response:
        """Begin the reading of a page that nobody has read, from its boxes."""
        return _changed(known, text_hash, lambda readings: readings.begin(text_hash))

    @router.post("/knowledge/readings/{text_hash}/answers")
    @needs(Need.APPROVE)
    def answer_of_page(
        text_hash: str,
        doubt: Annotated[str, Form(max_length=400)],
        answer: _Place,
        revision: _Revision,
    ) -> Response:
        """Settle a doubt by the button that was pressed."""
        request = AnswerRequest(doubt=doubt, answer=answer, revision=revision)
        return _changed(known, text_hash, lambda readings: readings.answer(text_hash, request))

    @router.post("/knowledge/readings/{text_hash}/undo")
    @needs(Need.APPROVE)
    def undo_of_page(text_hash: str) -> Response:
        """Take back the last thing that a person did."""
        return _changed(known, text_hash, lambda readings: readings.undo(text_hash))

    @router.post("/knowledge/readings/{text_hash}")
    @needs(Need.APPROVE)
    def edit_of_page(
        text_hash: str, reading: Annotated[str, Form(max_length=2_000_000)], revision: _Revision
    ) -> Response:
        """Put an edited reading in the place of what is served; refused, it stays in its field."""

        def replace(readings: Readings) -> ReadingDetail:
            return readings.replace(text_hash, _typed(reading), revision=revision)

        return _changed(known, text_hash, replace, typed=reading)

    return router


def _changed(
    known: Known,
    text_hash: str,
    change: Callable[[Readings], ReadingDetail],
    *,
    typed: str | None = None,
) -> Response:
    readings = known.readings()
    try:
        detail = change(readings)
    except (ConflictError, InvalidInputError) as error:
        now = readings.get(text_hash)
        status = error.status_code
        return shown(known, now, refused=str(error), typed=typed, status_code=status)
    if detail.remarks:  # they are told once, so that they cannot wait for the next request
        return shown(known, detail)
    return show("knowledge", "readings", text_hash)


def _typed(text: str) -> Reading:
    """The reading in the notation.

    Raises:
        UnusableReadingError: It is none.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableReadingError(f"this is no JSON: {str(error)[:200]}") from error
    if not isinstance(given, dict):
        raise UnusableReadingError("expected an object with a list of procedures")
    return reading_given(given)

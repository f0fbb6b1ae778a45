"""A page's text as the procedures that it tells."""

from services.knowledge.document.markdown import Page, parse
from services.procedure.model import Procedure, Reader, Reading
from services.procedure.rules.blocks import Blocks
from services.procedure.rules.outline import Outline
from services.procedure.rules.places import Places
from services.procedure.rules.targets import settled

RULES_VERSION = "1"
"""Changes when the rules read a page in another way."""


def read_by_rules(text: str) -> Reading:
    """The procedures that a page tells, none where it tells nothing to do.

    Never fails: a page that cannot be parsed, or in another language, tells nothing.
    """
    page = parse(text)
    procedure = _procedure(page)
    found = (procedure,) if procedure else ()
    return Reading(reader=Reader.RULES, version=RULES_VERSION, procedures=found)


def _procedure(page: Page) -> Procedure | None:
    outline = Outline(Blocks(page, Places(page)))
    told = outline.told([page.root])
    if not (told.body or told.verification):
        return None
    body = told.body or told.verification
    verification = told.verification if told.body else []
    title = page.sections[1].title if len(page.sections) > 1 else ""
    return settled(
        Procedure(
            title=title or "Procedure",
            lines=((1, max(1, len(page.lines))),),
            body=tuple(body),
            verification=tuple(verification),
            escalation=tuple(told.escalation),
        )
    )

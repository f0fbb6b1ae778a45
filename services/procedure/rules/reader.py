"""A page's text as the procedures that it tells."""

from services.knowledge.document.markdown import Page, parse
from services.procedure.model import Procedure, Reader, Reading
from services.procedure.rules.blocks import Blocks
from services.procedure.rules.outline import Outline, Told
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
    blocks = Blocks(page, Places(page))
    told = Outline(blocks).told([page.root])
    if not told.is_empty:
        return _settled(page, told)
    told = Outline(blocks, reads_all=True).told([page.root])
    return None if told.is_empty else _settled(page, told)


def _settled(page: Page, told: Told) -> Procedure:
    """The bodies in their places; what is the only one is the procedure."""
    bodies = [told.body, told.verification, told.escalation]
    body, verification, escalation = (
        bodies if told.body else ([*told.verification, *told.escalation], [], [])
    )
    title = page.sections[1].title if len(page.sections) > 1 else ""
    return settled(
        Procedure(
            title=title or "Procedure",
            lines=((1, max(1, len(page.lines))),),
            body=tuple(body),
            verification=tuple(verification),
            escalation=tuple(escalation),
        )
    )

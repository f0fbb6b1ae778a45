"""The pages: `tickets` (the list), `ticket` (one with its workflow), `sources` (a document's text).

Each page is a folder of its addresses and templates; `static` holds what browsers load. A page's
router has its line here.
"""

from services.gateway.ui import files
from services.gateway.ui.acceptance import pages as acceptance
from services.gateway.ui.knowledge import ROUTERS as KNOWLEDGE
from services.gateway.ui.sources import pages as sources
from services.gateway.ui.ticket import answers, handing, working
from services.gateway.ui.ticket import pages as ticket
from services.gateway.ui.tickets import pages as tickets

ROUTERS = (
    files.router,
    tickets.router,
    ticket.router,
    answers.router,
    handing.router,
    working.router,
    acceptance.router,
    sources.router,
    *KNOWLEDGE,
)

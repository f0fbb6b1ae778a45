"""Static files of the pages: scripts, style sheets and the icon, all our own."""

import json
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError
from services.tickets.ticket.event_kinds import KINDS, PROGRESS

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}
EVENTS = "\n".join(
    f"export const {name} = {json.dumps(list(kinds))};"
    for name, kinds in (("KINDS", KINDS), ("PROGRESS", PROGRESS))
)
"""A script with the event kinds, printed from the catalogue."""


def create_file_router() -> APIRouter:
    """Build the router of the static files; nothing else is served."""
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}")
    @needs(Need.OPEN)
    def static_file(name: str) -> Response:
        """Return a static file of the pages, and no other file."""
        headers = {"cache-control": "no-cache"}
        if name == "events.js":
            return Response(EVENTS, media_type=MEDIA_TYPES[".js"], headers=headers)
        if name not in FILES:
            raise NotFoundError(f"the pages have no file {name[:40]!r}")
        path = FILES[name]
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=headers)

    return router

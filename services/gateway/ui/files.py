"""The files that the pages load: scripts, style sheets and the icon, all ours."""

import json
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from services.gateway.ticket.event_kinds import KINDS, PROGRESS
from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}
EVENTS = "\n".join(
    f"export const {name} = {json.dumps(list(kinds))};"
    for name, kinds in (("KINDS", KINDS), ("PROGRESS", PROGRESS))
)
"""A script's list of events, printed from the catalogue."""


def create_file_router() -> APIRouter:
    """The files; nothing else is served."""
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}")
    @needs(Need.OPEN)
    def static_file(name: str) -> Response:
        """One of them, and no other file."""
        headers = {"cache-control": "no-cache"}
        if name == "events.js":
            return Response(EVENTS, media_type=MEDIA_TYPES[".js"], headers=headers)
        if name not in FILES:
            raise NotFoundError(f"the pages have no file {name[:40]!r}")
        path = FILES[name]
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=headers)

    return router

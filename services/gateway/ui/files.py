"""The files that the pages load: scripts, style sheets and the icon, all ours."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse

from services.kit.access.needs import Need, needs
from services.kit.errors import NotFoundError

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILES = {path.name: path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}


def create_file_router() -> APIRouter:
    """The files; nothing else is served."""
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}")
    @needs(Need.OPEN)
    def static_file(name: str) -> FileResponse:
        """One of them, and no other file."""
        if name not in FILES:
            raise NotFoundError(f"the pages have no file {name[:40]!r}")
        path = FILES[name]
        headers = {"cache-control": "no-cache"}
        return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=headers)

    return router

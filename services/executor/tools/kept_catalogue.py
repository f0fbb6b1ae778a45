"""The catalogue of a folder, read again when one of its files has changed."""

import threading
from pathlib import Path

from services.executor.tools.catalogue import POLICY, TARGETS, TOOLS, Catalogue


class KeptCatalogue:
    """Calling it gives the catalogue of now; safe to share between threads."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._catalogue = Catalogue()

    def __call__(self) -> Catalogue:
        """Raises `BadCatalogueError`: what is wrong stops runs, and nothing older goes on."""
        if self._folder is None:
            return self._catalogue
        with self._lock:
            if (state := self._seen(self._folder)) != self._state:
                self._catalogue = Catalogue.of_folder(self._folder)
                self._state = state
            return self._catalogue

    @staticmethod
    def _seen(folder: Path) -> tuple[object, ...]:
        paths = [folder / POLICY, folder / TARGETS, *sorted((folder / TOOLS).glob("*.yaml"))]
        found = ((path, path.stat()) for path in paths if path.exists())
        return tuple((str(p), s.st_mtime_ns, s.st_size, s.st_ino) for p, s in found)

"""Builds one room with nothing to import but what its image holds.

`python -m tests.contract.room_alone ROOM LOCK` ends with an error that names what is missing, or
tells which distributions were imported.
"""

import ast
import importlib
import pkgutil
import re
import sys
import tempfile
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions
from pathlib import Path

OWNERS = {
    package: {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    for package, names in packages_distributions().items()
}


class NotInTheImage(MetaPathFinder):
    """Hides every distribution that is not in a lock."""

    def __init__(self, locked: set[str]) -> None:
        self._locked = locked

    def find_spec(self, fullname, path=None, target=None):
        owners = OWNERS.get(fullname.partition(".")[0], self._locked)
        if owners.isdisjoint(self._locked):
            raise ModuleNotFoundError(f"this image does not hold {fullname}", name=fullname)


def import_all_of(package_name: str) -> None:
    """Its modules, and what their functions import when they are called."""
    package = importlib.import_module(f"services.{package_name}")
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                importlib.import_module(node.module)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importlib.import_module(alias.name)


def build(name: str, folder: Path) -> None:
    """As `flowxpert serve` does, on stores that need no server."""
    import services.cli  # noqa: F401
    from services.deployment.process import ServiceProcess
    from services.deployment.rooms import find_room
    from services.kit.settings import PlatformSettings
    from services.room import open_stores as stores
    from services.room.descriptor import Store

    room = find_room(name)
    needed = room.footprint.stores
    if Store.NEO4J in needed:
        importlib.import_module("services.knowledge.stores.neo4j")
    if Store.QDRANT in needed:
        qdrant = importlib.import_module("services.knowledge.stores.qdrant").QdrantVectorStore
        in_memory = stores.VectorStoreKind(
            lambda *arguments: qdrant.in_memory(arguments[-1]), is_shared=True
        )
        stores.VECTOR_STORES["qdrant"] = in_memory
    settings = PlatformSettings(
        _env_file=None,
        data_dir=folder,
        database_url=f"sqlite:///{folder / 'room.db'}",
        redis_url="redis://127.0.0.1:1",
        qdrant_url="http://127.0.0.1:1",
    )
    importlib.import_module("psycopg")
    importlib.import_module("redis")
    with ServiceProcess(room, settings) as serving:
        serving.app.openapi()
        assert serving._stores.embedder.embed(["interface down"]).any()


def main() -> None:
    name, lock = sys.argv[1:]
    text = Path(lock).read_text("utf-8")
    locked = set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)) | {"flowxpert"}
    sys.meta_path.insert(0, NotInTheImage(locked))
    with tempfile.TemporaryDirectory() as folder:
        build(name, Path(folder))
        from services.deployment.rooms import find_room

        for package_name in (name, *find_room(name).packages):
            import_all_of(package_name)
    tops = {module.partition(".")[0] for module in sys.modules}
    used = set().union(*(OWNERS.get(top, set()) for top in tops)) & locked
    sys.stdout.write("\n".join(sorted(used)))


if __name__ == "__main__":
    main()

"""Builds rooms, each with nothing to import but what its image holds.

`python -m tests.contract.room_alone ROOM LOCK [ROOM LOCK]...` prints, as JSON, a pair for each: an
error that names what is missing, and which distributions were imported. What all the locks hold is
imported once; each room is built in a fork of that process.
"""

import ast
import importlib
import json
import os
import pkgutil
import re
import sys
import tempfile
import traceback
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
        self.locked = locked

    def find_spec(self, fullname, path=None, target=None):
        owners = OWNERS.get(fullname.partition(".")[0], self.locked)
        if owners.isdisjoint(self.locked):
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
    with ServiceProcess(room, settings) as serving:
        serving.app.openapi()
        assert serving._stores.embedder.embed(["interface down"]).any()


def locked_in(lock: str) -> set[str]:
    text = Path(lock).read_text("utf-8")
    return set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)) | {"flowxpert"}


def imported_by(name: str, locked: set[str]) -> list[str]:
    """Distributions that a room and its packages import."""
    with tempfile.TemporaryDirectory() as folder:
        build(name, Path(folder))
        from services.deployment.rooms import find_room

        for package_name in (name, *find_room(name).packages):
            import_all_of(package_name)
    tops = {module.partition(".")[0] for module in sys.modules}
    return sorted(set().union(*(OWNERS.get(top, set()) for top in tops)) & locked)


def main() -> None:
    rooms = [(name, locked_in(lock)) for name, lock in zip(*[iter(sys.argv[1:])] * 2, strict=True)]
    image = NotInTheImage(set.intersection(*(locked for _, locked in rooms)))
    sys.meta_path.insert(0, image)
    for each in ("cli", "deployment.process", "room.open_stores"):
        importlib.import_module(f"services.{each}")
    for each in ("onnxruntime", "psycopg", "redis"):
        importlib.import_module(each)
    outcomes = []
    for name, locked in rooms:
        receiving, sending = os.pipe()
        if os.fork() == 0:
            image.locked, outcome = locked, ["", []]
            try:
                outcome[1] = imported_by(name, locked)
            except Exception:  # noqa: BLE001 - whatever it is, it is what is missing
                outcome[0] = traceback.format_exc()
            finally:
                os.write(sending, json.dumps(outcome).encode())
                os._exit(0)
        os.close(sending)
        with os.fdopen(receiving) as answer:
            outcomes.append(json.loads(answer.read() or '["it died", []]'))
        os.wait()
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()

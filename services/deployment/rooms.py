"""The deployables: whatever lists them loops over this."""

from services.contracts.addresses import AddressSettings
from services.executor.room import ROOM as EXECUTOR
from services.gateway.room import ROOM as GATEWAY
from services.ingestion.room import ROOM as INGESTION
from services.kit.access.settings import AccessSettings, OidcSettings
from services.kit.settings import PlatformSettings, Settings
from services.knowledge.settings import QdrantSettings
from services.llm.settings import ModelSettings
from services.planner.room import ROOM as PLANNER
from services.retrieval.room import ROOM as RETRIEVAL
from services.room.descriptor import AnyRoom
from services.room.peers import Frontend, Peers
from services.scorer.room import ROOM as SCORER

ROOMS: tuple[AnyRoom, ...] = (GATEWAY, INGESTION, RETRIEVAL, PLANNER, SCORER, EXECUTOR)

SETTINGS: tuple[type[Settings], ...] = (
    PlatformSettings,
    AccessSettings,
    OidcSettings,
    QdrantSettings,
    ModelSettings,
    AddressSettings,
    *(settings for room in ROOMS for settings in room.settings),
)
"""Every class of settings, in the order they are printed."""


def find_room(name: str) -> AnyRoom:
    """Return the room of that name; raises `KeyError`."""
    return {room.name: room for room in ROOMS}[name]


def frontends_of(peers: Peers) -> tuple[Frontend, ...]:
    """Return the routes that the gateway serves on behalf of other rooms, through these peers."""
    return tuple(room.frontend(peers) for room in ROOMS if room.frontend)

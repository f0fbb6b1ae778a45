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
from services.room.front import Front
from services.room.peers import Peers
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


def room_named(name: str) -> AnyRoom:
    """The room of that name; raises `KeyError`."""
    return {room.name: room for room in ROOMS}[name]


def fronts_of(peers: Peers) -> tuple[Front, ...]:
    """What the gateway answers in the name of other rooms, by asking these peers."""
    return tuple(room.front(peers) for room in ROOMS if room.front)

"""What a deployable takes where each process runs apart: compose file and chart are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Store(StrEnum):
    """A server that keeps something, as the chart calls it."""

    POSTGRESQL = "postgresql"
    REDIS = "redis"
    QDRANT = "qdrant"
    NEO4J = "neo4j"


@dataclass(frozen=True)
class Process:
    """One kind of process; amounts are written as Kubernetes writes them."""

    replicas: int = 2
    up_to: int = 8
    """Most of them, where their number follows the load."""
    cpu: str = "250m"
    memory: str = "768Mi"
    cpu_limit: str = "2"
    memory_limit: str = "2Gi"
    scratch: str = "1Gi"
    """Room for what it can make again."""
    model: Literal["planner", "scorer"] | None = None
    """The language model that it asks."""
    goes_outside: bool = False
    """Whether it speaks to ticket systems, to Git or to a model elsewhere."""


@dataclass(frozen=True)
class Footprint:
    """What a deployable's processes speak to and take."""

    stores: tuple[Store, ...] = ()
    calls: tuple[str, ...] = ()
    """The deployables that it asks."""
    serves: Process = Process()
    works: Process = Process()
    """Of a process that only works, where there is a queue."""
    takes_uploads: bool = False
    """Whether its processes share the volume on which uploads wait."""
    is_published: bool = False
    """Whether others than the platform's own processes may call it."""
    secrets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further secrets by the setting that is read from their file."""

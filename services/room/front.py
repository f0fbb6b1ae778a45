"""What the gateway answers in the name of another room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import APIRouter


@dataclass(frozen=True)
class Front:
    """Routes of a room that the gateway answers in its name: one address for everything."""

    routers: tuple[APIRouter, ...]
    body_limits: Mapping[str, int] = field(default_factory=dict)
    """Largest bodies in bytes, by how the path begins."""

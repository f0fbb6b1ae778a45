"""Ids that sort by creation time."""

import secrets
import time
from uuid import UUID


def time_ordered_id() -> str:
    """Create a UUID of version 7 (RFC 9562): 48 bits of milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    value = milliseconds << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


def first_id_at(seconds: float) -> str:
    """Return an upper bound for ids created before this time, in seconds since the epoch."""
    return str(UUID(int=max(0, int(seconds * 1000)) << 80))

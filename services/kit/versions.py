"""Versions of computed values: any change to the code behind them gives a new version."""

import hashlib
from pathlib import Path

_SERVICES = Path(__file__).parents[1]


def hash_sources(*patterns: str) -> str:
    """Hash all files below `services/` that match a pattern: 16 hexadecimal digits."""
    files = sorted({path for pattern in patterns for path in _SERVICES.glob(pattern)})
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]

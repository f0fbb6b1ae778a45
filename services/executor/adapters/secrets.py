"""Credentials: read from their files when they are needed, and kept nowhere."""

from pathlib import Path

from services.executor.adapters.port import StoppedError


def read_secret(path: Path) -> str:
    """Raises `StoppedError` where the file cannot be read or is empty."""
    try:
        secret = path.read_text().strip()
    except OSError as error:
        raise StoppedError(f"the credentials cannot be read: {error.strerror}") from error
    if not secret:
        raise StoppedError(f"the file {path.name} of the credentials is empty")
    return secret

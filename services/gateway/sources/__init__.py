"""Ticket systems: one file each, and one line in the list."""

from services.gateway.sources.alertmanager import ALERTMANAGER
from services.gateway.sources.generic import GENERIC

SOURCES = (
    ALERTMANAGER,
    GENERIC,  # the least particular: recognised last
)

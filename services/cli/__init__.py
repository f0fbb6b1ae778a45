"""Command line. Commands import what they need when they run, so that help comes at once."""

from services.cli.commands import app, main

__all__ = ["app", "main"]

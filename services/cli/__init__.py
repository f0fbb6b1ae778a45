"""The command line. What a command needs is imported when it runs, so that help comes at once."""

from services.cli.commands import app, main

__all__ = ["app", "main"]

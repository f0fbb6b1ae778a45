"""Effects of commands: read-only, changing, or destructive."""

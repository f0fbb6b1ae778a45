"""`python -m services.kit.migrations ROOM "What changes"` writes the next migration of a room."""

import sys

from services.kit.migrations import new_revision

if __name__ == "__main__":
    new_revision(*sys.argv[1:3])

"""Where the front matter of a Markdown text stands."""

import re

FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)

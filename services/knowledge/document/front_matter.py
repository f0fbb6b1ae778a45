"""Pattern of the front matter of a Markdown text."""

import re

FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)

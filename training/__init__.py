"""Coevolution of Planner and Scorer, and adapters for readers and judges: offline and silent.

Needs torch and the extra `training`. Silence is set here, before any library that would speak is
imported.
"""

import training.quiet  # noqa: F401

"""Coevolution of Planner and Scorer, and adapters for readers and judges. Offline and silent.

Needs the extra `training` and torch. Whatever imports transformers, peft or trl imports `quiet`
first.
"""

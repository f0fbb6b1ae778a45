"""Grounding: the source sentence that a step of a workflow rests on, looked up, never believed."""

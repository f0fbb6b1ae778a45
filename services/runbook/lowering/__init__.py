"""Lowering: the one way from a program to a workflow graph."""

from services.runbook.lowering.lower import lower

__all__ = ["lower"]

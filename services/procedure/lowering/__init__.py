"""Lowering: the one way from a program to a workflow graph."""

from services.procedure.lowering.lower import lower

__all__ = ["lower"]

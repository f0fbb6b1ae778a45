"""The one way from a program to a graph."""

from services.procedure.lowering.lower import lower

__all__ = ["lower"]

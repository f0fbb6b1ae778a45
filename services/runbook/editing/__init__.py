"""A procedure is corrected by operations on its nodes, and what they come to is told first."""

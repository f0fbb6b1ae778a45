"""Back to where a ticket came from: its system is told that a workflow is ready."""

"""The program of a page: its model, readers, editing, and lowering to a workflow graph."""

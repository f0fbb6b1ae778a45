"""The artefact: a workflow as a graph of cited steps, its formats, its checks and its measures."""

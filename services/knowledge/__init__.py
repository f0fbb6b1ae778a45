"""Knowledge: documents, chunks, incident nodes, and the ports of the stores that keep them."""

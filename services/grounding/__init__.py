"""Which sentence of the sources a step of a workflow rests on: looked up, never believed."""

"""Runs: a workflow that is carried out, as a list of events, and what follows from them."""

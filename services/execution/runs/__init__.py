"""Runs: workflows that are carried out, each as an event log and the state that follows from it."""

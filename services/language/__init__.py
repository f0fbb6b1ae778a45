"""English of operation documents: sentences, clauses, cues, verbs, names, states of things.

The one place for rules about words; the services above decide what to do with them. The lexicons
are the JSON files beside the modules.
"""

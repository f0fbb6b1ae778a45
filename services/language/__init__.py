"""English of operation documents: sentences, clauses, cues, verbs, names, states of things.

The one place for words; what they are used for lives above. Lexicons are the JSON files beside.
"""

"""The issuer whose tokens identify people: its answers, keys and tokens."""

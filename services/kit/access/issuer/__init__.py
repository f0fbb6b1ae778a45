"""The issuer whose tokens name people: what it answers, its keys, its tokens."""

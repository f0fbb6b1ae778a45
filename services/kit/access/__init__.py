"""Who calls, and what they may do: keys, bearer tokens, scopes, roles, rates."""

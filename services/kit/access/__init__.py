"""Authentication and authorisation: keys, bearer tokens, scopes, roles, rate limits."""

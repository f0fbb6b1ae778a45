"""Sessions of browsers: their cookies, and the people and keys that they stand for."""

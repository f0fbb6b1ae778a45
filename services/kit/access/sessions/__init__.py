"""Sessions of browsers: their cookies, and the people and keys behind them."""

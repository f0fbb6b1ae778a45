"""Lists of tickets: pages, counts and gauges."""

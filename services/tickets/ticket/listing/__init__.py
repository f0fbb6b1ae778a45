"""Lists of tickets: pages, counts, gauges and related tickets."""

"""HTTP to other systems: checked addresses, no proxies or redirects unasked, bounded answers."""

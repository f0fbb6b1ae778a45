"""Messages between services, one Protocol per deployable, and its HTTP client."""

"""Language models behind one port: requests, responses, and errors."""

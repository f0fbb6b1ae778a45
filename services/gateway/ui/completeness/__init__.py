"""What others check: a page of a ticket, and of a reading."""

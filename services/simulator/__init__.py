"""A small network that breaks on request and answers over real SSH; nothing else imports it."""

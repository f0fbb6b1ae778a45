"""What people say: cut into clauses, without secrets."""

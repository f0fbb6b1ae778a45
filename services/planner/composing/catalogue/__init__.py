"""What there is to compose over, and which of it an instruction may mean."""

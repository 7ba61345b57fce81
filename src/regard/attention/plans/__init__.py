"""Which path computes a call, and what it costs, from its shapes alone."""

"""Check-ins: who was where, and when; and walks that are made up, to try a model with."""

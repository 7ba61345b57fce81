"""The parts of a corpus."""

PARTS = ("train", "dev", "test")

"""What a corpus is like before training: pairs in pair_check.py, columns of any task in column_check.py."""

from regard.data.check.pair_check import check

__all__ = ["check"]

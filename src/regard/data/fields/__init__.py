"""Fields, the columns of an example: each has its whole life in one file, and field.py says what that is."""

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.label import Label
from regard.data.fields.text import Text

__all__ = ["Cell", "Field", "Label", "Parts", "Text", "Unusable"]

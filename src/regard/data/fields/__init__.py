"""Fields, the columns of an example: each has its whole life in one file, and field.py says what that is."""

from regard.data.fields.choice import Alternatives, Choice
from regard.data.fields.copied_text import CopiedText
from regard.data.fields.document import Document, Sentences
from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.image import Image
from regard.data.fields.label import Label
from regard.data.fields.labels import Labels
from regard.data.fields.marked_text import MarkedChoice, MarkedText
from regard.data.fields.numbers import Numbers
from regard.data.fields.span import Span, Stretch
from regard.data.fields.text import Text
from regard.data.fields.words import Words

__all__ = [
    "Alternatives",
    "Cell",
    "Choice",
    "CopiedText",
    "Document",
    "Field",
    "Image",
    "Label",
    "Labels",
    "MarkedChoice",
    "MarkedText",
    "Numbers",
    "Parts",
    "Sentences",
    "Span",
    "Stretch",
    "Text",
    "Unusable",
    "Words",
]

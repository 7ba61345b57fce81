"""Pictures, and how they are drawn: a model of how probable a picture is."""

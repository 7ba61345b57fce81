"""The corpora that come with the package; README.md says what they are and whose."""

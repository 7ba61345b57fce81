"""Looking at a caption: what each of its words looks at in the picture."""

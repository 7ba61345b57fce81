"""The heart: every attention as score × region × normaliser × heads."""

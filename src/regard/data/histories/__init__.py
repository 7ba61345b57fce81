"""Histories of events, made by a seed."""

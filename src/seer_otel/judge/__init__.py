"""Judges, and everything between a retrieval and its verdict."""

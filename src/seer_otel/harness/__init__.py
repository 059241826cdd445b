"""Offline: the same reading and arithmetic over files."""

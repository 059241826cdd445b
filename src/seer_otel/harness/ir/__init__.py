"""Retrievers over a frozen set of labelled queries: which one, and is it good enough?"""

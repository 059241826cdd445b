"""The product at work: a small application, its scores, and a chain put to the test."""

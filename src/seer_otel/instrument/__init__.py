"""In the application: finds retrieval spans, decides, and ships them in the background."""

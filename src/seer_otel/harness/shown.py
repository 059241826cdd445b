"""Text of traces on a terminal: cut, and without what a terminal would obey."""


def shown(text: str, limit: int) -> str:
    """Return a text on one line of at most `limit` characters; what is no print becomes �."""
    line = " ".join(text.split())
    cut = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return "".join(character if character.isprintable() else "�" for character in cut)

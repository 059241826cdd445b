"""Parent links of one trace, made safe to follow: parents that never came, spans in circles."""

from collections import defaultdict, deque
from collections.abc import Mapping


def rooted(parents: Mapping[str, str | None]) -> dict[str, str | None]:
    """
    Return every span id with its parent's, parents before children.

    A parent that is not among the ids is None, and so is one that would close a circle. Takes
    time in proportion to the number of spans, however deep they nest.

    Args:
        parents: Span id to the parent's id, as the spans say.
    """
    children: defaultdict[str, list[str]] = defaultdict(list)
    starts: deque[str] = deque()
    for span_id, parent in parents.items():
        if parent is None or parent not in parents:
            starts.append(span_id)
        else:
            children[parent].append(span_id)
    found: dict[str, str | None] = {}
    _descend(starts, children, found)
    for span_id in parents:
        if span_id not in found:  # it is in a circle, or hangs from one
            _descend(deque([_in_circle(span_id, parents)]), children, found)
    return found


def _descend(
    starts: deque[str], children: Mapping[str, list[str]], found: dict[str, str | None]
) -> None:
    found.update(dict.fromkeys(starts))
    while starts:
        parent = starts.popleft()
        for child in children.get(parent, ()):
            if child not in found:
                found[child] = parent
                starts.append(child)


def _in_circle(span_id: str, parents: Mapping[str, str | None]) -> str:
    """Follow links that never end until one leads back."""
    seen: set[str] = set()
    current = span_id
    while current not in seen:
        seen.add(current)
        current = parents[current] or current
    return current

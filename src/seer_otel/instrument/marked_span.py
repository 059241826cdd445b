"""Copies of ended spans that say more: an ended span itself cannot be changed, and is not."""

from collections.abc import Mapping

from opentelemetry.sdk.trace import ReadableSpan


class MarkedSpan(ReadableSpan):
    """A copy of an ended span with attributes added. What the span had lost is still counted."""

    def __init__(self, span: ReadableSpan, added: Mapping[str, str | bool]) -> None:
        super().__init__(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes={**(span.attributes or {}), **added},
            events=span.events,
            links=span.links,
            kind=span.kind,
            status=span.status,
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        self._dropped = (span.dropped_attributes, span.dropped_events, span.dropped_links)

    @property
    def dropped_attributes(self) -> int:
        """Attributes that the span had and lost."""
        return self._dropped[0]

    @property
    def dropped_events(self) -> int:
        """Events that the span had and lost."""
        return self._dropped[1]

    @property
    def dropped_links(self) -> int:
        """Links that the span had and lost."""
        return self._dropped[2]

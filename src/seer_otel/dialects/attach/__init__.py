"""
A verdict on the wire: *inline*, on the span while it is held, or *beside* it, on a carrier.

Nothing here decodes the span that is written to: what it held leaves as it came.
"""

from seer_otel.dialects.attach.beside import Target, carrier, log_records
from seer_otel.dialects.attach.inline import append, attributes, events, unevaluated
from seer_otel.dialects.attach.payload import Payload, shrink

__all__ = [
    "Payload",
    "Target",
    "append",
    "attributes",
    "carrier",
    "events",
    "log_records",
    "shrink",
    "unevaluated",
]

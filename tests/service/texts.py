"""An endpoint that knows the texts of documents, and misbehaves on demand."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Texts:
    """What it knows, what it was asked, and how it answers."""

    known: Mapping[str, str]
    url: str = ""
    asked: list[list[str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None
    """Where set, the answer, whatever was asked."""
    may_answer: threading.Event = field(default_factory=threading.Event)

    def answer(self, ids: list[str]) -> bytes:
        self.asked.append(ids)
        self.may_answer.wait(30)
        if self.body is not None:
            return self.body
        return json.dumps({"texts": {i: self.known.get(i) for i in ids}}).encode()


@contextmanager
def texts(known: Mapping[str, str]) -> Iterator[Texts]:
    """Run the endpoint on a port of loopback."""
    endpoint = Texts(known)
    endpoint.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
            body = endpoint.answer(json.loads(self.rfile.read(length))["ids"])
            self.send_response(endpoint.status)
            self.send_header("content-length", str(len(body)))
            self.send_header("location", endpoint.url + "elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/texts"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()

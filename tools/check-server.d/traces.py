"""Spans that the server sends, read by OpenTelemetry's own schema: a collector that takes them, one that hangs."""

import base64
import json
import queue
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from harness.report import Fault
from harness.server import expect

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PATIENCE = 60
CUSTOMER = "customer-whom-no-span-names"


def parsed(body):
    """The request by the schema: hexadecimal numbers are the one thing in which OTLP's JSON is its own."""
    document = json.loads(body)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.ParseDict(document, ExportTraceServiceRequest())


class Collector:
    """Takes what is posted to it."""

    def __init__(self):
        self.bodies = queue.Queue()
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                bodies.put((self.path, self.headers["Content-Type"], body))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def spans(self, count):
        """So many spans with what they came in, as they come."""
        found, said, end = [], b"", time.monotonic() + PATIENCE
        while len(found) < count:
            try:
                path, kind, body = self.bodies.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty as error:
                raise Fault("traces: %d spans came instead of %d" % (len(found), count)) from error
            if (path, kind) != ("/v1/traces", "application/json"):
                raise Fault("traces: posted to %s as %s" % (path, kind))
            for resource in parsed(body).resource_spans:
                names = {a.key: a.value.string_value for a in resource.resource.attributes}
                if names.get("service.name") != "ledger-of-a-test" or not names.get("service.version"):
                    raise Fault("traces: the resource is %s" % names)
                found += [span for scope in resource.scope_spans for span in scope.spans]
            said += body
        return found, said


def check_taken(material):
    """A request with its append, a part of what its caller says; nobody is named."""
    with Collector() as collector, material.server(environment={
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "ledger-of-a-test"}) as server:
        path = "/v1/customers/%s" % CUSTOMER
        expect(server.ask("POST", path + "/grants", {"tier": "pro", "reason": CUSTOMER}, headers={
            "traceparent": "00-%s-%s-01" % (TRACE, PARENT)}), 200, "a grant")
        expect(server.ask("GET", path), 200, "a question", customer=CUSTOMER)
        server.ask("GET", "/healthz")
        spans, said = collector.spans(3)
        server.stop()
    named = {span.name: span for span in spans}
    request, part = named.get("POST /v1/customers/{id}/grants"), named.get("ledger append")
    if not request or not part or "GET /v1/customers/{id}" not in named:
        raise Fault("traces: the spans are %s" % sorted(named))
    if request.trace_id.hex() != TRACE or request.parent_span_id.hex() != PARENT:
        raise Fault("traces: the caller's trace is not gone on from")
    if request.kind != Span.SPAN_KIND_SERVER or part.parent_span_id != request.span_id:
        raise Fault("traces: the append is no part of its request")
    if not request.start_time_unix_nano <= part.start_time_unix_nano <= part.end_time_unix_nano \
            <= request.end_time_unix_nano or request.status.code == Status.STATUS_CODE_ERROR:
        raise Fault("traces: times or status are odd: %s" % request)
    if abs(request.end_time_unix_nano / 1e9 - time.time()) > PATIENCE:
        raise Fault("traces: not of now")
    if CUSTOMER.encode() in said:
        raise Fault("traces: a span names a customer")
    return len(spans)


def check_lost(material):
    """A collector that is dead, and one that takes connections and never answers, hold up nobody, the end neither."""
    with socket.socket() as hanging, socket.socket() as dead:
        for one in (hanging, dead):
            one.bind(("127.0.0.1", 0))
        hanging.listen(100)
        for place in (hanging, dead):
            url = "http://127.0.0.1:%d/v1/traces" % place.getsockname()[1]
            with material.server(environment={"ENTITLE_TRACES_ENDPOINT": url}) as server:
                begin, connection = time.monotonic(), server.connect()
                for _ in range(500):
                    expect(server.ask("GET", "/v1/status", connection=connection), 200, "beside a lost collector")
                connection.close()
                seconds = time.monotonic() - begin
                # Half a second each would be what one waits for.
                if seconds > 60:
                    raise Fault("traces: 500 questions took %.1f s" % seconds)
                if server.stop() > 15:
                    raise Fault("traces: the end waits for a collector")


def check_refused(material, refused):
    """What is no address ends the start."""
    for bad in ("collector", "ftp://127.0.0.1/", "http://user:secret@127.0.0.1/"):
        refused(material, 78, ["--port", "0"], "traces to " + bad[:9], environment={"ENTITLE_TRACES_ENDPOINT": bad})


def run(material, refused):
    """All of it; how many spans were read."""
    check_refused(material, refused)
    count = check_taken(material)
    check_lost(material)
    return count

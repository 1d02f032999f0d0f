"""Receivers of webhooks on loopback: each reads its messages by other people's libraries, notes them, and
answers as it is told."""

import collections
import datetime
import http.server
import itertools
import socket
import sys
import threading
import time
import types

from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from standardwebhooks import Webhook, WebhookVerificationError

from harness.report import Fault
from harness.server import expect

# Lets those be added over HTTP that stand on this machine.
PRIVATE = {"ENTITLE_PRIVATE_WEBHOOKS": "true"}
# What a busy machine may add to any time.
LATE_SECONDS = 3
# Within which everybody is looked at, once the first webhook is there.
SETTLE_SECONDS = 1.5
CHANGED = "entitlement.changed"
# Bytes of an answer that has no end.
HUGE = 200 << 20
PIECE = b"a" * (64 << 10)
HEAD = b"HTTP/1.1 200 OK\r\n"


class Message:
    """A message as it came, and what it was answered."""

    def __init__(self, headers, body, event):
        self.id, self.headers, self.body = headers["webhook-id"], headers, body
        self.type, self.data = event.get_type(), event.get_data()
        self.is_resent = headers.get("ledger-resent") == "true"
        self.customer = self.data.get("customer")
        self.at, self.instant = time.time(), time.monotonic()
        self.status = None


def read(secrets, headers, body):
    """A message, which each of these secrets has to have signed, in their order, and no other."""
    at = datetime.datetime.fromtimestamp(int(headers["webhook-timestamp"]), datetime.timezone.utc)
    try:
        for secret in secrets:
            Webhook(secret).verify(body, headers)
    except WebhookVerificationError as error:
        raise Fault("a message does not verify: %s: %s" % (error, headers)) from error
    signed = " ".join(
        Webhook(secret).sign(headers["webhook-id"], at, body.decode()) for secret in secrets)
    if headers["webhook-signature"] != signed:
        raise Fault("the signatures are %s instead of %s" % (headers["webhook-signature"], signed))
    if headers["content-type"] != "application/cloudevents+json":
        raise Fault("a message is %s" % headers["content-type"])
    return Message(headers, body, from_structured_event(HTTPMessage(headers, body)))


class Handler(http.server.BaseHTTPRequestHandler):
    """A connection to a receiver."""

    protocol_version = "HTTP/1.1"
    receiver = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.receiver.answer(self, types.SimpleNamespace(customer=None, status=None))

    def do_POST(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers["content-length"]))
        if len(body) < int(headers["content-length"]):
            # Who was killed in the middle of it sent no message.
            self.close_connection = True
            return
        try:
            message = read(self.receiver.secrets, headers, body)
        except Exception as error:  # noqa: BLE001: the libraries' own, whichever
            self.receiver.problems.append("%s: %s" % (type(error).__name__, error))
            self.send_error(500)
            return
        self.receiver.note(message)
        self.receiver.answer(self, message)


class Listener(http.server.ThreadingHTTPServer):
    """Who accepts connections, and counts them."""

    daemon_threads, block_on_close, request_queue_size = True, False, 128
    connections, context = 0, None

    def get_request(self):
        self.connections += 1
        return super().get_request()

    def finish_request(self, request, client_address):
        if self.context:
            request.settimeout(20)
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        # Who is killed or has had enough leaves connections broken.
        self.errors.append(str(sys.exc_info()[1]))


class Receiver:
    """Who is told; ends with the block that it is used in."""

    def __init__(self, answer=None, host="127.0.0.1", port=0, context=None, listens=True):
        """`answer` is done with each message: some are below. With a context, over TLS. Without
        listening nobody can connect until `listen`."""
        self.answer = answer or take
        self.secrets, self.id, self.sent = [], None, 0
        self.messages, self.problems, self.bodies = [], [], {}
        self.lock, self.ended, self.thread = threading.Lock(), threading.Event(), None
        kind = type("Listener", (Listener,), {
            "address_family": socket.AF_INET6 if ":" in host else socket.AF_INET,
            "context": context, "errors": []})
        self.listener = kind(
            (host, port), type("Handler", (Handler,), {"receiver": self}), bind_and_activate=False)
        self.listener.server_bind()
        self.port = self.listener.server_address[1]
        self.url = "http://127.0.0.1:%d/hooks/entitlements" % self.port
        if listens:
            self.listen()

    def listen(self):
        self.listener.server_activate()
        self.thread = threading.Thread(
            target=self.listener.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread:
            self.listener.shutdown()
        self.listener.server_close()

    @property
    def connections(self):
        return self.listener.connections

    @property
    def errors(self):
        return self.listener.errors

    def note(self, message):
        with self.lock:
            if self.bodies.setdefault(message.id, message.body) != message.body:
                self.problems.append("%s was sent with another body" % message.id)
            self.messages.append(message)

    def add_to(self, server, **wish):
        """Has a server tell it; the webhook."""
        webhook = expect(
            server.ask("POST", "/v1/webhooks", {"url": self.url, **wish}), 201, "a new webhook")
        self.id, self.secrets = webhook["id"], [webhook["secret"]]
        return webhook

    def ask(self, server, method="GET", path="", body=None):
        """What a server says of it."""
        return expect(server.ask(method, "/v1/webhooks/%s%s" % (self.id, path), body), 200,
                      "%s of a webhook" % (path or method))

    def receipts(self):
        """How often each message came, and when: seconds by ids."""
        found = collections.defaultdict(list)
        with self.lock:
            for message in self.messages:
                found[message.id].append(message.at)
        return found

    def taken(self, changes=True):
        """The messages that it took, each once and in the order in which it took them first: changes of
        access, or all."""
        found = {}
        with self.lock:
            for message in self.messages:
                if message.status == 200 and (message.type == CHANGED or not changes):
                    found.setdefault(message.id, message)
        return list(found.values())

    def require_good(self):
        """Everything that came was as it has to be."""
        if self.problems:
            raise Fault("%d messages are bad: %s" % (len(self.problems), self.problems[0][:500]))


def settled(server, *receivers, **wish):
    """Adds receivers, and waits until everybody was looked at: what is told at once has a check of its own."""
    for one in receivers:
        one.add_to(server, **wish)
    time.sleep(SETTLE_SECONDS)


def until(condition, seconds, what):
    """Waits for something that has to hold; what it is then."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise Fault("not within %d s: %s" % (seconds, what() if callable(what) else what))
        time.sleep(0.05)
    return found


def answering(status, **headers):
    """Answers at once."""
    def answer(handler, message):
        message.status = status
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
    return answer


take = answering(200)


def at_first(bad, limit):
    """Answers the first message of so many customers in a bad way, and takes whatever else comes."""
    seen, lock = set(), threading.Lock()

    def answer(handler, message):
        with lock:
            is_first = len(seen) < limit and message.customer not in seen
            seen.add(message.customer)
        (bad if is_first else take)(handler, message)
    return answer


def redirecting(url):
    """Sends elsewhere, in one of the ways that there are."""
    ways = itertools.cycle((302, 301, 303, 307, 308))
    return lambda handler, message: answering(next(ways), Location=url)(handler, message)


def hang(handler, message):
    """Never answers."""
    handler.close_connection = True
    handler.receiver.ended.wait()


def saying(*pieces, status=None, pause=0.0):
    """Writes pieces as long as somebody reads, and closes; `status` is what they say."""
    def answer(handler, message):
        message.status, handler.close_connection = status, True
        receiver = handler.receiver
        for piece in itertools.chain.from_iterable(pieces):
            try:
                handler.wfile.write(piece)
            except OSError:
                return
            with receiver.lock:
                receiver.sent += len(piece)
            if receiver.ended.wait(pause) if pause else receiver.ended.is_set():
                return
    return answer


ENDLESS = [PIECE] * (HUGE // len(PIECE))
DROPS = [b"a"] * 1000
close = saying()
close_in_the_middle = saying([HEAD + b"Content-"])
noise = saying([b"\x16\x03\x01 what is this\r\n\r\n" * 100])
trickle_head = saying([HEAD + b"X-Slow: "], DROPS, pause=0.3)
trickle_body = saying([HEAD + b"Content-Length: 1000\r\n\r\n"], DROPS, status=200, pause=0.3)
endless_head = saying([HEAD + b"X-Endless: "], ENDLESS)
endless_heads = saying([HEAD], [b"X-%d: %s\r\n" % (n, PIECE[:1000]) for n in range(200)] * 1000)
endless_hints = saying([b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" * 50] * 1000, pause=0.1)
endless_body = saying([HEAD + b"Content-Length: %d\r\n\r\n" % HUGE], ENDLESS, status=200)

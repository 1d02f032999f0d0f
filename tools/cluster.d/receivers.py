"""Who is told by webhooks of three servers, and what is wrong with what they were told.

A receiver verifies each message by itself, notes it, takes most, and refuses some at first. In the end each grant
that was acknowledged was taken, each customer's in the log's order, and each under one id with one body however
often it came. One is added disabled, and enabled when all is over: it is told the same.
"""
import base64
import hashlib
import hmac
import http.server
import json
import threading
import time

from harness.report import Fault

# The environment of servers that tell who stands on this machine.
PRIVATE = {"ENTITLE_PRIVATE_WEBHOOKS": "true"}
# One in so many messages is refused, the first time that it comes.
REFUSED = 150
# A message that was refused comes again after five seconds, and behind it what waits for it.
PATIENCE = 240


class Handler(http.server.BaseHTTPRequestHandler):
    """A connection to a receiver."""

    protocol_version = "HTTP/1.1"
    receiver = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        length = int(self.headers["content-length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # Who was killed in the middle of it sent no message.
            self.close_connection = True
            return
        status = self.receiver.status(self.headers, body)
        try:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            # It was killed: whoever leads next sends it again.
            self.close_connection = True


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 128

    def handle_error(self, request, client_address):
        # Who is killed leaves connections broken.
        pass


class Receiver:
    """One who is told of grants."""

    def __init__(self, chance):
        self.chance, self.lock = chance, threading.Lock()
        self.secret, self.id, self.faults, self.refused = None, None, [], set()
        self.messages = []  # id, customer, grant, body, whether it was taken
        self.listener = Listener(("127.0.0.1", 0), type("Handler", (Handler,), {"receiver": self}))
        self.url = "http://127.0.0.1:%d/hooks" % self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, args=(0.05,), daemon=True).start()

    def end(self):
        self.listener.shutdown()
        self.listener.server_close()

    def add_to(self, machine, key):
        status, _, webhook = machine.ask(
            "POST", "/v1/webhooks", key, {"url": self.url, "types": ["grant.given"]})
        if status != 201:
            raise Fault("server %s adds no webhook: %d %s" % (machine.name, status, webhook))
        self.id, self.secret = webhook["id"], base64.b64decode(webhook["secret"].removeprefix("whsec_"))

    def change(self, machine, key, name):
        """Disables or enables it, at any machine, again until it is done."""
        end = time.monotonic() + PATIENCE
        said = None
        while time.monotonic() < end:
            said = machine.ask("POST", "/v1/webhooks/%s/%s" % (self.id, name), key)
            if said[0] == 200:
                return said[2]
            time.sleep(0.1)
        raise Fault("server %s does not %s a webhook: %s" % (machine.name, name, said))

    def standing(self, machine, key):
        status, _, webhook = machine.ask("GET", "/v1/webhooks/%s" % self.id, key)
        if status != 200:
            raise Fault("server %s knows no webhook: %d %s" % (machine.name, status, webhook))
        return webhook

    def status(self, headers, body):
        """What a message is answered."""
        name, at = headers["webhook-id"], headers["webhook-timestamp"]
        signed = hmac.new(self.secret, ("%s.%s." % (name, at)).encode() + body, hashlib.sha256).digest()
        event = json.loads(body)
        with self.lock:
            if headers["webhook-signature"] != "v1," + base64.b64encode(signed).decode():
                self.faults.append("%s is signed by nobody known" % name)
            isTaken = name in self.refused or self.chance.randrange(REFUSED) != 0
            if not isTaken:
                self.refused.add(name)
            self.messages.append((name, event["subject"], event["data"].get("grantId"), body, isTaken))
        return 200 if isTaken else 503

    def taken(self):
        """The grants that were taken."""
        with self.lock:
            return {grant for _, _, grant, _, is_taken in self.messages if is_taken}

    def heard(self):
        with self.lock:
            return list(self.messages)


def judge(grants, places, messages, erased=()):
    """What is wrong with what one was told; empty: nothing.

    `grants`: those that were acknowledged. `places`: the place of each in the log. `erased`: customers who were erased,
    of whom the log tells nothing any more; before that others may have been told."""
    found = []
    ids, bodies, last, seen = {}, {}, {}, set()
    for name, customer, grant, body, is_taken in messages:
        if grant is None or grant in erased:
            continue
        if ids.setdefault(grant, name) != name:
            found.append("%s was told under two ids" % grant)
        if bodies.setdefault(name, body) != body:
            found.append("%s was sent with another body" % name)
        if grant not in places:
            found.append("%s was told and stands nowhere" % grant)
            continue
        if not is_taken or grant in seen:
            continue
        seen.add(grant)
        if places[grant] < last.get(customer, -1):
            found.append("%s was told %s behind what came later" % (customer, grant))
        last[customer] = places[grant]
    missing = [grant for grant in grants if grant not in seen]
    if missing:
        found.append("%d were never told: %s" % (len(missing), missing[:3]))
    return found


def planted(grants, places, messages):
    """The judge's own controls: whether each changed record is found."""
    def changed(change):
        other = list(messages)
        change(other)
        return bool(judge(grants, places, other))
    lost = messages[-1][2]

    def lose(other):
        other[:] = [one for one in other if one[2] != lost]

    def turn(other):
        # Two that one customer took, the other way round.
        first = {}
        for place, (_, customer, grant, _, is_taken) in enumerate(other):
            if is_taken and first.get(customer, (0, grant))[1] != grant:
                before, own = first[customer][0], other[place][2]
                if places[own] > places[other[before][2]]:
                    other[before], other[place] = other[place], other[before]
                    return
            if is_taken and customer not in first:
                first[customer] = (place, grant)

    def rename(other):
        other.append(("msg_other",) + other[0][1:])
    return {"untold": changed(lose), "disordered": changed(turn), "renamed": changed(rename)}

"""Customers whose access is changed again and again, and what has to be told of it."""

import datetime
import http.client
import json
import threading
import time

from harness.report import Fault
from harness.server import exchange, expect
from receiver import CHANGED, until

FREE = {"tier": "free", "features": ["open"]}
ANSWER_SECONDS = 20
# How long a grant lasts that ends by itself, and how long its end is left alone.
SHORT_SECONDS = (0.4, 1.5)
END_SECONDS = 0.3


class Customer:
    """Has one grant or none, so that each change of it changes what they may use. A request that was
    not acknowledged is repeated until it is."""

    def __init__(self, name, source, short=0.0):
        """`short`: the share of grants that end by themselves."""
        self.name, self.source, self.short = name, source, short
        self.count, self.grant, self.asked = 0, None, None
        # Sequences of what was acknowledged, with when it was asked for.
        self.acknowledged = {}

    def change(self, connection, key):
        """Gives a grant or withdraws it; nothing while one is about to end by itself. Its sequence."""
        path = "/v1/customers/%s/grants" % self.name
        if self.grant and self.grant["ends"]:
            if time.time() < self.grant["ends"] + END_SECONDS:
                return None
            self.grant = self.asked = None
        if not self.asked:
            self.count += 1
            if self.grant:
                self.asked = "DELETE", "%s/%s" % (path, self.grant["id"]), None, None
            else:
                self.asked = "POST", path, *self.new_grant()
        method, target, body, grant = self.asked
        begin, name = time.monotonic(), "%s-%d" % (self.name, self.count)
        if grant and grant["ends"]:
            # Whatever becomes of the request, it is over by then.
            self.grant = grant
        value = expect(exchange(connection, method, target, body, key, {"Idempotency-Key": name}),
                       200, "a change of %s" % self.name)
        self.grant, self.asked = grant, None
        self.acknowledged[value["sequence"]] = begin
        return value["sequence"]

    def new_grant(self):
        """The body of a request, and what is known of the grant."""
        grant = {"id": "%s-%d" % (self.name, self.count), "ends": None}
        body = {"grantId": grant["id"], "tier": self.source.choice(["plus", "pro"])}
        if self.source.random() < self.short:
            grant["ends"] = time.time() + self.source.uniform(*SHORT_SECONDS)
            body["expiresAt"] = text_of(grant["ends"])
        return body, grant


def text_of(seconds):
    """An instant as it is written."""
    instant = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Writer(threading.Thread):
    """Changes customers in turn until the server is gone, it is told to end, or so often."""

    def __init__(self, server, customers, pause=0.0, times=None):
        super().__init__(daemon=True)
        self.server, self.customers, self.pause, self.times = server, customers, pause, times
        self.ended, self.problem = threading.Event(), None
        self.start()

    def run(self):
        connection, turn = self.server.connect(ANSWER_SECONDS), 0
        while turn != self.times and not self.ended.wait(self.pause):
            try:
                self.customers[turn % len(self.customers)].change(connection, self.server.key)
            except Fault as fault:
                self.problem = str(fault)
                break
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                break
            turn += 1
        connection.close()

    def end(self):
        """Waits for the last answer."""
        if not self.times:
            self.ended.set()
        self.join(10 * ANSWER_SECONDS)
        if self.problem:
            raise Fault(self.problem)


def wanted(tool, ledger, start=0):
    """What has to be told of each customer, by the log alone: sequences, and `time` with its instant."""
    told, ends = {}, {}

    def end(customer, instant):
        if (at := ends.get(customer)) and at <= instant:
            told[customer].append("time " + ends.pop(customer))

    for line in tool.ask(ledger, "events", "--json", "--from", str(start)).splitlines():
        event = json.loads(line)
        if event["type"] not in ("grant.given", "grant.withdrawn"):
            continue
        customer, instant = event["subject"].split("/", 1)[1], event["recordedtime"]
        end(customer, instant)
        ends_at = event["data"].get("expiresAt")
        if ends_at and ends_at <= instant:
            continue
        told.setdefault(customer, []).append(int(event["sequence"]))
        if ends_at:
            ends[customer] = ends_at
    for customer in list(ends):
        end(customer, text_of(time.time()))
    return told


def told(messages):
    """What was told of each customer, as of `wanted`."""
    found = {}
    for message in messages:
        cause = message.data["cause"]
        found.setdefault(message.customer, []).append(
            "time " + message.data["at"] if cause == "time" else cause)
    return found


def states(server, customers):
    """What the server says that customers may use."""
    found = {}
    for customer in customers:
        state = expect(server.ask("GET", "/v1/customers/" + customer), 200, "a state")
        found[customer] = {"tier": state["tier"], "features": sorted(
            name for name, feature in state["features"].items() if feature["allowed"])}
    return found


def require_order(messages, expected):
    """Exactly what is expected was told of each customer, in its order."""
    found = told(messages)
    for customer in sorted({*found, *expected}):
        theirs, ours = found.get(customer, []), expected.get(customer, [])
        if theirs != ours:
            at = next((at for at, (one, other) in enumerate(zip(theirs, ours, strict=False)) if one != other),
                      min(len(theirs), len(ours)))
            raise Fault("of %s it was told %s instead of %s, from %d on (%d of %d)" % (
                customer, theirs[at:at + 5], ours[at:at + 5], at, len(theirs), len(ours)))


def require_chain(messages, now):
    """What each customer had before is what they had after the message before, up to what they have now."""
    last = {}
    for message in messages:
        before = last.get(message.customer, FREE)
        if message.data["before"] != before or message.data["after"] == before:
            raise Fault("of %s, %s follows %s" % (message.customer, message.data, before))
        last[message.customer] = message.data["after"]
    for customer, state in now.items():
        if last.get(customer, FREE) != state:
            raise Fault("%s was told to have %s and has %s" % (customer, last.get(customer), state))


def check_control(messages, expected, now):
    """A message less, and two in another order, must be found by both; how many were planted."""
    planted = []
    customer = max(expected, key=lambda name: len(expected[name]))
    places = [at for at, message in enumerate(messages) if message.customer == customer]
    middle = len(places) // 2
    for left_out in (places[0], places[middle], places[-1]):
        planted.append([m for at, m in enumerate(messages) if at != left_out])
    one, other = places[middle - 1:middle + 1]
    swapped = list(messages)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    planted.append(swapped)
    for given in planted:
        for check, what in ((require_order, expected), (require_chain, now)):
            try:
                check(given, what)
            except Fault:
                continue
            raise Fault("control: %s finds nothing missing" % check.__name__)
    return 2 * len(planted)


def complete(tool, ledger, server, receiver, seconds):
    """Waits until a receiver was told everything, and requires that it was, in its order; what was expected,
    and what customers may use."""
    def missing():
        return sum(map(len, wanted(tool, ledger).values())) - len(receiver.taken())

    until(lambda: receiver.problems or missing() <= 0, seconds, lambda: "%d messages of %d are missing: %s" % (
        missing(), len(receiver.taken()) + missing(), receiver.ask(server)))
    receiver.require_good()
    expected = wanted(tool, ledger)
    now = states(server, expected)
    require_order(receiver.taken(), expected)
    require_chain(receiver.taken(), now)
    return expected, now


def logged(tool, ledger, begin):
    """The events of the log that are told by `*`, from one on, by their ids."""
    lines = tool.ask(ledger, "events", "--json", "--from", str(begin)).splitlines()
    return {event["id"]: event for event in map(json.loads, lines) if event["type"] != "access.logged"}


def require_events(messages, expected):
    """Each event is told as the log has it, and those of a customer in their order; how many."""
    found, last = {}, {}
    for event in (json.loads(message.body) for message in messages):
        if "sequence" not in event:
            continue
        if event["sequence"] < last.get(event["subject"], ""):
            raise Fault("an event is told behind a later one: %s" % event)
        found[event["id"]], last[event["subject"]] = event, event["sequence"]
    wrong = [key for key in {*expected, *found} if expected.get(key) != found.get(key)]
    if wrong:
        raise Fault("%d events of %d are told otherwise: %s, not %s" % (
            len(wrong), len(expected), found.get(wrong[0]), expected.get(wrong[0])))
    return len(found)


def check_events_control(messages, expected):
    """An event less, and all in another order, must be found; how many were planted."""
    events = [message for message in messages if message.type != CHANGED]
    for planted in (events[1:], events[::-1]):
        try:
            require_events(planted, expected)
        except Fault:
            continue
        raise Fault("control: no event is missing")
    return 2


def latencies(receiver, customers):
    """Seconds from asking for each change to hearing of it."""
    asked = {at: begin for customer in customers for at, begin in customer.acknowledged.items()}
    return [message.instant - asked[message.data["cause"]] for message in receiver.taken()
            if message.data["cause"] in asked]


def milliseconds(seconds, share):
    """A quantile."""
    ordered = sorted(seconds)
    return round(1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)

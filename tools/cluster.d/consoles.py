"""Pages of the console at machines that do not lead: whoever is signed in there sees customers and sends forms.

What was sent is there on the next page of the same machine, and the looks are noted by the one that leads. Beside it
what must not work: a form with the token of another session, and a cookie at a machine where nobody signed in by it.
"""
import collections
import re
import time
import urllib.parse

from harness.report import Fault

CUSTOMER = "console"
PAGE = "/console/customers/" + CUSTOMER
PATIENCE = 20


class Visitor:
    """Somebody with a browser, signed in at one machine."""

    def __init__(self, machine, key):
        self.machine = machine
        status, headers, _ = self.send("/console/login", {"key": key})
        if status != 303:
            raise Fault("nobody is let in at %s: %d" % (machine.name, status))
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, machine=None):
        headers = {"Cookie": self.cookie} if hasattr(self, "cookie") else {}
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        return (machine or self.machine).ask(method, path, None, body, headers, timeout=90)

    def send(self, path, fields):
        return self.ask("POST", path, urllib.parse.urlencode(fields))

    def form(self):
        """The hidden fields of the form that grants something."""
        status, _, page = self.ask("GET", PAGE + "/grant")
        if status != 200:
            raise Fault("%s shows no form: %d" % (self.machine.name, status))
        inputs = [dict(re.findall(r'(\w+)="([^"]*)"', text)) for text in re.findall(r"<input ([^>]*)>", page)]
        return {one["name"]: one["value"] for one in inputs if one.get("name") in ("formToken", "request")}

    def grant(self, fields):
        return self.send(PAGE + "/grant", {"tier": "pro", "reason": "a test", "confirmed": "yes", **fields})


def looks(machine, key):
    """How often each look at the customer is noted."""
    status, _, events = machine.ask("GET", "/v1/customers/%s/events?type=access.logged" % CUSTOMER, key)
    if status != 200:
        raise Fault("%s tells no events: %d" % (machine.name, status))
    return collections.Counter(event["data"]["action"] for event in events)


def check(cluster):
    """What is wrong; empty: nothing."""
    found, leader = [], cluster.leader()
    others = [machine for machine in cluster.machines.values() if machine is not leader]
    visitors = [Visitor(machine, cluster.key) for machine in others]
    for visitor in visitors:
        name = visitor.machine.name
        fields = visitor.form()
        status, headers, page = visitor.grant(fields)
        if status != 303 or not headers["Location"].startswith(PAGE):
            found.append("a form at %s: %d %s" % (name, status, page[-300:]))
            continue
        # By it the machine waits until it has what came of the form.
        if not headers["Ledger-Sequence"]:
            found.append("the answer to a form at %s does not say how far the log is" % name)
        status, headers, page = visitor.ask("GET", headers["Location"])
        if status != 200 or fields["request"] not in page:
            found.append("%s shows no grant behind its form: %d" % (name, status))
        if "default-src 'none'" not in (headers["Content-Security-Policy"] or ""):
            found.append("a page at %s has no policy" % name)
        # Asked again it is the same grant; unconfirmed it is a preview, which the leader makes.
        if visitor.grant(fields)[0] != 303:
            found.append("a form at %s is not taken again" % name)
        status, headers, _ = visitor.send(PAGE + "/grant", {"tier": "pro", "reason": "a test", **visitor.form()})
        if status != 200 or "default-src 'none'" not in (headers["Content-Security-Policy"] or ""):
            found.append("a form at %s shows no preview: %d" % (name, status))
    one, other = visitors
    if one.grant({**one.form(), "formToken": other.form()["formToken"]})[0] != 403:
        found.append("a form with the token of another session is taken")
    if one.ask("GET", PAGE, machine=other.machine)[0] != 303:
        found.append("a session of one machine lets somebody in at another")
    return found + noted(cluster, others[0])


def noted(cluster, machine):
    """What is wrong with the looks of both: each sent a form twice, and saw the page behind it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = looks(machine, cluster.key)
        if found["grant"] >= 4 and found["showCustomerPage"] >= 2:
            return []
        time.sleep(0.1)
    return ["looks at %s are not noted: %s" % (machine.name, dict(found))]

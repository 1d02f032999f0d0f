"""The demonstration's server and store, and the example app, as processes."""

import http.client
import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.parse

from harness.report import Fault
from harness.start import ROOT

START_SECONDS = 120
# Seconds on a quiet machine; where everything runs at once they are minutes.
APP_SECONDS = 400
# What a moment may take on a busy machine.
OPEN_SECONDS = 60
# Where nobody listens.
AWAY = "http://127.0.0.1:9"
PRODUCT, FEATURE = "pro.month", "export"


def program():
    """The example app of the debug build, which is made if it is missing."""
    path = os.path.join(ROOT, ".build", "debug", "entitle-example")
    if not os.path.exists(path):
        subprocess.run(["swift", "build", "--product", "entitle-example"], cwd=ROOT,
                       stdout=sys.stderr, check=True)
    return path


class Demo:
    """`entitle demo`; ends with the block that it is used in."""

    def __init__(self, tool):
        # What is said of its start is not looked at, and must not fill a pipe.
        self.process = subprocess.Popen(
            [tool.binary, "demo", "--customers", "3"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tool.scratch, bufsize=0,
            env={**tool.environment, "ENTITLE_LIMITS":
                 "keys=0,customers=0,anonymous=0,failures=0,signals=0,appends=0"})
        try:
            said = ""
            while "entitle-example http" not in said:
                readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
                line = self.process.stdout.readline().decode() if readable else ""
                if not line:
                    raise Fault("the demonstration does not begin: %s" % said[-300:])
                said += line
            self.url, self.key, self.store = re.search(
                r"entitle-example (\S+) (\S+) (\S+)", said).groups()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, url, method, path, body=None, key=None):
        """One request; the JSON of an answer, which has to be a 200."""
        place = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        try:
            headers = {"Authorization": "Bearer " + key} if key else {}
            text = json.dumps(body) if body is not None else None
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            data = response.read()
            if response.status != 200:
                raise Fault("%s: %d: %s" % (path, response.status, data[:300]))
            return json.loads(data)
        finally:
            connection.close()

    def device(self, account, call="transactions", body=None):
        """What the store knows of a device, or does for it."""
        method = "GET" if call == "transactions" else "POST"
        return self.ask(self.store, method, "/device/accounts/%s/%s" % (account, call), body)

    def state(self, customer):
        """What the ledger says of a customer."""
        return self.ask(self.url, "GET", "/v1/customers/" + customer, key=self.key)

    def purchases(self, customer):
        """The names of what the ledger has recorded for a customer."""
        return [one["purchase"] for one in self.state(customer)["purchases"]]

    def refund(self, account, transaction):
        """Gives a price back, and tells the ledger as the App Store does."""
        told = self.device(account, "refund", {"transactionId": transaction})
        self.ask(self.url, "POST", "/v1/signals/app-store", told)


class App:
    """One run of the example app, which is told words on its standard input."""

    def __init__(self, app, demo, folder, account, server=None, environment=None,
                 preexec_fn=None):
        self.process = subprocess.Popen(
            [app, server or demo.url, demo.key, demo.store, folder, account],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})},
            preexec_fn=preexec_fn)

    def ask(self, line):
        """Says a line; the line that it prints."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def say(self, *lines):
        """Says everything, and waits for its end; exit code and what it printed, line by line."""
        try:
            text, _ = self.process.communicate("".join(line + "\n" for line in lines), APP_SECONDS)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            self.process.wait()
            raise Fault("the app does not end") from error
        return self.process.returncode, text.splitlines()


def converse(app, demo, folder, account, *lines, **more):
    """A run that has to end by itself; what it printed."""
    code, printed = App(app, demo, folder, account, **more).say(*lines)
    if code != 0:
        raise Fault("the app ended with %d" % code)
    return printed


def is_open(app, demo, folder, account, **more):
    """Whether the feature is open when the app begins, a moment later at the most: what the store tells by
    itself comes behind the start."""
    running = App(app, demo, folder, account, **more)
    try:
        end = time.monotonic() + OPEN_SECONDS
        while True:
            if running.ask("open " + FEATURE).startswith("Open"):
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
    finally:
        running.say()


def settled(app, demo, folder, account, rounds=40, tellers=1, **more):
    """Runs the app until what it bought is recorded once and finished once; raises otherwise. How many purchases.

    `tellers`: programs of which each may tell the store that it is finished; one that was killed before it noted
    that counts as two. To a store the second word is nothing new.
    """
    for _ in range(rounds):
        converse(app, demo, folder, account, "online", **more)
        device = demo.device(account)
        if not device["unfinished"]:
            break
    held = [one["id"] for one in device["held"]]
    if device["unfinished"]:
        raise Fault("%s: not finished: %s" % (account, device["unfinished"][0]["id"]))
    if any(not 1 <= count <= tellers for count in device["finished"].values()) or set(device["finished"]) != set(held):
        raise Fault("%s: finished %s of %s" % (account, device["finished"], held))
    names = ["app_store/" + one["originalId"] for one in device["held"]]
    if sorted(demo.purchases(account)) != sorted(names):
        raise Fault("%s: recorded %s of %s" % (account, demo.purchases(account), names))
    return len(held)

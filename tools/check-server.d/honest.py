"""Honest clients: a steady stream of checks, store signals and grants that must all be answered."""

import contextlib
import http.client
import json
import socket
import threading
import time

from harness.server import exchange

# Where a queue of connections overflows the system tries again after 1, 3, 7 and 15 seconds: p99 says how long most wait.
ANSWER_SECONDS = 30
# Among whom grants are spread.
CUSTOMERS = 50


class Client(threading.Thread):
    """Asks at a steady pace on a connection that it keeps, and notes every answer."""

    def __init__(self, crowd, number, work):
        super().__init__(daemon=True)
        self.crowd, self.number, self.work = crowd, number, work
        self.latencies, self.failures = [], []

    def run(self):
        crowd, connection, turn = self.crowd, None, 0
        while not crowd.ended.is_set():
            begin = time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection(
                    crowd.host, crowd.port, timeout=ANSWER_SECONDS)
                problem = self.work(connection, self.number, turn)
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem = "%s: %s" % (type(error).__name__, error)
            taken = time.monotonic() - begin
            if problem:
                # Whoever asked before the end is answered behind it.
                self.failures.append(problem)
                if connection:
                    connection.close()
                connection = None
            else:
                self.latencies.append(taken)
            turn += 1
            crowd.ended.wait(max(0.0, crowd.pause - taken))
        if connection:
            connection.close()


class Crowd:
    """Clients at work until the block ends."""

    def __init__(self, host, port, works, pause=0.02):
        self.host, self.port, self.pause = host, port, pause
        self.ended = threading.Event()
        self.clients = [Client(self, number, work) for number, work in enumerate(works)]

    def __enter__(self):
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for client in self.clients:
            client.join(2 * ANSWER_SECONDS)

    @property
    def failures(self):
        return [failure for client in self.clients for failure in client.failures]

    @property
    def count(self):
        return sum(len(client.latencies) for client in self.clients)

    def milliseconds(self, share):
        """A quantile of the time that answers took."""
        latencies = sorted(l for client in self.clients for l in client.latencies)
        if not latencies:
            return None
        return round(1000 * latencies[min(len(latencies) - 1, int(len(latencies) * share))], 1)


class Stub(threading.Thread):
    """A server for controls: answers so many requests of each connection, then sends `last` and
    closes it."""

    BODY = b'{"allowed":true,"outcome":"appended","sequence":1}'
    ANSWER = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
              b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))

    def __init__(self, count, last):
        super().__init__(daemon=True)
        self.count, self.last = count, last
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.host, self.port = self.listener.getsockname()
        self.key = "none"
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            with contextlib.suppress(OSError), connection, \
                    connection.makefile("rb") as requests:
                for _ in range(self.count):
                    self.read(requests)
                    connection.sendall(self.ANSWER)
                self.read(requests)
                connection.sendall(self.last)

    @staticmethod
    def read(requests):
        """One request, whole."""
        length = 0
        while (line := requests.readline().lower()).strip():
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        requests.read(length)

    def connect(self, timeout):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)


def checks(key, customer, feature, allowed, fresh=False):
    """Work: asks for a feature; on a connection of its own each time if it is to be `fresh`."""
    def work(connection, number, turn):
        if fresh:
            connection.close()
        status, _, value = exchange(
            connection, "GET", "/v1/customers/%s/features/%s" % (customer, feature), key=key)
        if status != 200 or value["allowed"] is not allowed:
            return "a check: %d %s" % (status, str(value)[:200])
    return work


def signals(bodies):
    """Work: sends signed notifications, each first and later again."""
    def work(connection, number, turn):
        status, _, value = exchange(
            connection, "POST", "/v1/signals/app-store", bodies[turn % len(bodies)])
        outcome = "appended" if turn < len(bodies) else "duplicate"
        if status != 200 or value["outcome"] != outcome:
            return "a signal: %d %s" % (status, str(value)[:200])
    return work


def grants(key, prefix, acknowledged):
    """Work: gives grants; what is acknowledged is noted by its id, with its sequence."""
    def work(connection, number, turn):
        name = "%s-%d-%d" % (prefix, number, turn)
        body = json.dumps({"grantId": name, "tier": "pro"})
        status, _, value = exchange(
            connection, "POST", "/v1/customers/c%d/grants" % (turn % CUSTOMERS), body, key,
            {"Idempotency-Key": name})
        if status != 200 or value["outcome"] != "appended":
            return "a grant: %d %s" % (status, str(value)[:200])
        acknowledged[name] = value["sequence"]
    return work

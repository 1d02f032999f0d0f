"""A proxy between app and server that loses, delays, repeats, truncates and answers 5xx (rows 3.4, 3.5, ES5)."""

import contextlib
import http.client
import http.server
import random
import threading
import time
import urllib.parse

from app import FEATURE, PRODUCT, App, is_open, settled
from harness.report import Fault, in_parallel

KINDS = ("lost", "unanswered", "repeated", "truncated", "delayed", "502", "503")


class Proxy:
    """Carries requests to a server; so many of 100 badly."""

    def __init__(self, url, seed, bad_percent):
        place = urllib.parse.urlsplit(url)
        self.target = (place.hostname, place.port)
        self.source = random.Random("network/%d" % seed)
        self.bad_percent = bad_percent
        self.counts = dict.fromkeys(KINDS, 0)
        self.lock = threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                # Whoever asked may have ended meanwhile.
                with contextlib.suppress(ConnectionError):
                    proxy.carry(self)

            do_POST = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def fault(self):
        with self.lock:
            if self.source.randrange(100) >= self.bad_percent:
                return None
            kind = self.source.choice(KINDS)
            self.counts[kind] += 1
            return kind

    def forward(self, handler, body):
        connection = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            headers = {name: value for name, value in handler.headers.items()
                       if name.lower() not in ("host", "connection", "content-length")}
            connection.request(handler.command, handler.path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers.items(), response.read()
        finally:
            connection.close()

    def carry(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)) or None
        kind = self.fault()
        handler.close_connection = True
        if kind == "lost":
            return
        if kind in ("502", "503"):
            handler.send_response(int(kind))
            handler.send_header("Content-Length", "6")
            handler.end_headers()
            handler.wfile.write(b"<html>")
            return
        if kind == "delayed":
            time.sleep(0.3)
        if kind == "repeated":
            self.forward(handler, body)
        status, headers, data = self.forward(handler, body)
        if kind == "unanswered":
            return
        handler.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(data[:len(data) // 2] if kind == "truncated" else data)


def trial(app, demo, folder, account, seed):
    """One purchase over a bad network; how often the server was not told at once, and the faults."""
    proxy = Proxy(demo.url, seed, 50)
    try:
        running = App(app, demo, folder, account, server=proxy.url)
        said = running.ask("buy " + PRODUCT)
        if said != "Thank you.":
            raise Fault("%s: bought, it says %s" % (account, said))
        where = running.ask("open " + FEATURE)
        if not where.startswith("Open"):
            raise Fault("%s: closed although the store verified it: %s" % (account, where))
        for _ in range(2):
            running.ask("online")
            if not running.ask("open " + FEATURE).startswith("Open"):
                raise Fault("%s: closed after a retry" % account)
        running.say()
        if not is_open(app, demo, folder, account, server=proxy.url):
            raise Fault("%s: closed when the app began anew" % account)
    finally:
        proxy.close()
    if settled(app, demo, folder, account) != 1:
        raise Fault("%s: the store sold nothing" % account)
    return where.split()[3], proxy.counts


def control(tool, app, demo):
    """Where nothing is ever carried, nothing is recorded: the check of it has to fail."""
    proxy = Proxy(demo.url, 0, 0)
    proxy.close()
    folder, account = tool.directory("unreached"), "network-control"
    App(app, demo, folder, account, server=proxy.url).say("buy " + PRODUCT)
    if demo.purchases(account):
        raise Fault("the control is recorded")
    if demo.device(account)["finished"]:
        raise Fault("what nobody recorded was finished")
    try:
        settled(app, demo, folder, account, rounds=1, server=proxy.url)
    except Fault as fault:
        if "not finished" in str(fault):
            return
        raise
    raise Fault("a purchase that nobody recorded was not found")


def run(tool, app, demo, report, seed, count):
    done = in_parallel(lambda number: trial(
        app, demo, tool.directory("network-%d" % number), "network-%d" % number,
        seed * 1000 + number), range(count))
    control(tool, app, demo)
    totals = {kind: sum(counts[kind] for _, counts in done) for kind in KINDS}
    if sum(totals.values()) < 3 * count:
        raise Fault("too little went wrong: %s" % totals)
    report.figures["network"] = {
        "purchases": count, "openBeforeRecorded": sum(1 for where, _ in done if where == "provisional"),
        "faults": totals}

"""How commands reach a server: who may by its socket, keys and addresses that are none, servers that are bad, gone,
killed, stopped or only read, and paths that are too long."""

import contextlib
import http.client
import json
import os
import signal
import socket
import socketserver
import stat
import threading
import time

from harness.report import Fault, in_parallel
from harness.server import DRAIN_SECONDS, exchange, expect

# Bytes of a socket's path that every system takes, and that this one does at most (unix(7)).
PATH_BYTES, MOST_PATH_BYTES = 103, 107
SOCKET = os.path.join("socket", "server.sock")
# Within which a command says that nobody is there, on a busy machine.
SOON_SECONDS = 30
USAGE, BAD_INPUT, NO_INPUT, UNREACHABLE, TRY_AGAIN, NOT_PERMITTED = 64, 65, 66, 69, 75, 77
GRANT = ("grant", "alice", "--tier", "pro", "--json")
NO_ADDRESSES = (
    "", "localhost:8080", "ftp://127.0.0.1/", "http://", "http:///x", "http://[::1", "http://127.0.0.1:99999",
    "http://a b/")
# What is done in the ledger's own directory alone.
OWN = (
    "doctor --without-key", "export --from 0 --output out --resume",
    "export --from 0 --output out --format csv --format sqlite", "audit --archive .",
    "whatif --catalog catalog.json --output lines.txt", "archive",
    "import --retry-quarantine", "products --from products.storekit", "catalog gates --file catalog.json",
    "webhooks add https://example.com/ --private-address", "keys list", "salvage --heal", "import events.ndjson --on-error quarantine", "checkpoint --publish .", "serve")
PAGE = b"<!doctype html><p>It works."


def answer(status, body, kind=b"text/html", length=None, more=b""):
    """The bytes of an answer."""
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s" % (
        status, kind, len(body) if length is None else length, more, body)


class Stranger(socketserver.ThreadingTCPServer):
    """Who is no server of this program: answers with the same bytes whatever it is asked, and closes."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, said):
        heard = self.heard = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                length = 0
                while (line := self.rfile.readline()).strip():
                    heard.append(line)
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                heard.append(self.rfile.read(length))
                self.wfile.write(said)

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ledger_path(folder, size, name="ledger"):
    """A path of a ledger whose socket's has so many bytes."""
    room = size - len(os.fsencode(os.path.join(folder, name, SOCKET)))
    if room < 0:
        raise Fault("the folder of temporary files has too long a path for a socket")
    return os.path.join(folder, name + "x" * room)


def refused(done, codes, what):
    """A command that has to end with one of these codes, and one problem that says so."""
    errors = done.stderr.decode(errors="replace")
    try:
        problem = json.loads(errors)
    except ValueError:
        problem = {}
    if done.returncode not in codes or done.stdout or problem.get("exitCode") != done.returncode:
        raise Fault("%s: exit %d instead of %s: %s%s" % (
            what, done.returncode, " or ".join(map(str, codes)), done.stdout[:100].decode(errors="replace"),
            errors[:300].strip()))


def done(asked, what, outcome="appended"):
    """A command that has to record something."""
    if asked.returncode != 0 or json.loads(asked.stdout)["outcome"] != outcome:
        raise Fault("%s: exit %d: %s" % (
            what, asked.returncode, (asked.stderr or asked.stdout)[:300].decode(errors="replace").strip()))


def all_of(checks):
    """Makes all checks, whichever fail; their number."""
    faults = []
    for check in checks:
        try:
            check()
        except Fault as fault:
            faults.append(str(fault))
    if faults:
        raise Fault("; ".join(faults))
    return len(checks)


def check_tokens(tool, material, server, keys):
    """Files of keys that are none, and keys that may not."""
    with open(keys["admin"], encoding="utf-8") as file:
        key = file.read().strip()
    texts = {"empty": "", "blank": "\n", "another": "el_aaaaaaaaaaaa_" + "A" * 43, "cut": key[:-1],
             "bytes": "\x00\x01ü\n", "spaced": "  %s \r\n\nmore\n" % key}
    files = {name: material.write("token-%s.txt" % name, text) for name, text in texts.items()}
    place = ["--server", server.url, "--token-file"]

    def ask(codes, what, *words):
        return lambda: refused(tool.run_plain(*words), codes, what)

    show = ("show", "alice", "--json")
    count = all_of([
        ask([NO_INPUT], "no file of a key", *show, *place, "absent.txt"),
        ask([NO_INPUT], "a folder for a key", *show, *place, tool.scratch),
        ask([NO_INPUT], "an empty file of a key", *show, *place, files["empty"]),
        ask([NO_INPUT, NOT_PERMITTED], "a blank line for a key", *show, *place, files["blank"]),
        ask([NOT_PERMITTED], "another's key", *show, *place, files["another"]),
        ask([NOT_PERMITTED], "a key that is cut", *show, *place, files["cut"]),
        ask([BAD_INPUT, NO_INPUT, NOT_PERMITTED], "bytes that are no key", *show, *place, files["bytes"]),
        ask([NOT_PERMITTED], "no key", *show, *place[:2]),
        ask([NOT_PERMITTED], "a key that may not show", *show, *place, keys["write"]),
        ask([NOT_PERMITTED], "a key that may not grant", *GRANT, *place, keys["read"]),
        ask([NOT_PERMITTED], "a key that may not erase", "erase", "alice", "--confirm", "alice", "--json", *place,
            keys["write"])])
    # The control: the same with a key.
    if tool.run_plain(*show, *place, files["spaced"]).returncode != 0:
        raise Fault("a key with spaces around it is refused")
    return count + 1


def check_strangers(tool, keys):
    """Servers that are none of this program, and one that sends a client elsewhere, with nothing of a key."""
    with Stranger(answer(b"200 OK", PAGE)) as elsewhere:
        said = {
            "a page": answer(b"200 OK", PAGE), "a page of a fault": answer(b"500 Internal Server Error", PAGE),
            "another's JSON": answer(b"200 OK", b'{"outcome":1}', b"application/json"),
            "another's problem": answer(b"404 Not Found", b'{"error":"none"}', b"application/problem+json"),
            "no text": answer(b"204 No Content", b""), "no HTTP": b"220 mail.example.com ESMTP\r\n",
            "an answer that is cut": answer(b"200 OK", PAGE, length=1000), "an end": b"",
            "a way elsewhere": answer(
                b"307 Temporary Redirect", b"", more=b"Location: %s\r\n" % elsewhere.url.encode())}
        gone = ("no HTTP", "an answer that is cut", "an end")

        def check(name, words):
            with Stranger(said[name]) as stranger:
                ended = tool.run_plain(
                    *words, "--server", stranger.url, "--token-file", keys["admin"], timeout=SOON_SECONDS)
                if not stranger.heard:
                    raise Fault("%s: nobody was asked" % name)
            # Nothing that somebody else says is done or a "no".
            refused(ended, [UNREACHABLE] if name in gone else [2, BAD_INPUT, UNREACHABLE, 70], name)

        count = all_of([
            lambda name=name, words=words: check(name, words)
            for name in said for words in (GRANT, ("can", "alice", "sync", "--json"))])
        heard = b"".join(elsewhere.heard)
    if b"el_" in heard or b"grantId" in heard:
        raise Fault("who was not asked is told a key or what was to be recorded: %s" % heard[:200])
    return count


def check_addresses(tool, material, keys):
    """What is no address, where nobody is, and commands that ask no server."""
    material.write("customers.txt", "alice\n")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % closed.getsockname()[1]
        token = ["--token-file", keys["admin"]]
        return all_of([
            *(lambda address=address: refused(
                tool.run_plain(*GRANT, "--server", address, *token), [USAGE], "the address %r" % address)
              for address in NO_ADDRESSES),
            *(lambda words=words: refused(
                tool.run_plain(*words.split(), "--json", "--server", url, *token, data=b"", timeout=SOON_SECONDS),
                [USAGE], words + " --server") for words in OWN),
            *(lambda words=words: refused(
                tool.run_plain(*words, "--server", url, *token, timeout=SOON_SECONDS), [UNREACHABLE], "nobody there")
              for words in (GRANT, ("show", "alice", "--json")))])


def check_rights(tool, material):
    """Who may by the socket: without a credential all, with one what it may."""
    ledger, key = material.ledger()
    reader = tool.key(ledger, "read")
    # A folder that others may enter becomes the owner's alone.
    os.makedirs(os.path.join(ledger, "socket"), 0o755)
    path = os.path.join(ledger, SOCKET)
    grants, alice = "/v1/customers/alice/grants", "/v1/customers/alice"
    grant = {"grantId": "g", "tier": "pro"}
    customer = material.signer.token("alice")
    asked = (
        (None, "GET", "/v1/status", None, 200), (None, "POST", grants, grant, 200), (None, "GET", alice, None, 200),
        (None, "GET", "/v1/webhooks", None, 200), (None, "DELETE", "/v1/customers/nobody", None, 200),
        (reader, "GET", alice, None, 200), (reader, "GET", "/v1/status", None, 200),
        (reader, "POST", grants, grant, 403), (reader, "DELETE", alice, None, 403),
        (reader, "GET", "/v1/webhooks", None, 403), (key, "POST", grants, grant, 200),
        (customer, "GET", alice, None, 200), (customer, "GET", "/v1/customers/bob", None, 404),
        (customer, "POST", grants, grant, 403), (key + "x", "GET", alice, None, 401),
        (key[:-1], "POST", grants, grant, 401), ("el_aaaaaaaaaaaa_" + "A" * 43, "GET", "/v1/status", None, 401),
        (customer + "x", "GET", alice, None, 401), ("x", "GET", "/metrics", None, 401))
    with material.server(ledger, key) as server:
        wait_for(path, server)
        folder = os.stat(os.path.dirname(path))
        if stat.S_IMODE(folder.st_mode) != 0o700 or folder.st_uid != os.getuid():
            raise Fault("the socket's folder has mode %o" % stat.S_IMODE(folder.st_mode))
        for credential, method, target, body, status in asked:
            what = "%s %s by the socket%s" % (method, target, ", with a credential" if credential else "")
            with contextlib.closing(SocketConnection(path)) as connection:
                expect(exchange(connection, method, target, body, credential), status, what)
        # The control: on the network nobody may without a credential.
        with contextlib.closing(server.connect()) as connection:
            expect(exchange(connection, "GET", alice), 401, "by the network")
        server.require_alive()
    return len(asked) + 2


def wait_for(path, server):
    """Waits until a server listens on its socket: that may be a moment after its first line."""
    deadline = time.monotonic() + SOON_SECONDS
    while time.monotonic() < deadline:
        server.require_alive()
        with socket.socket(socket.AF_UNIX) as one, contextlib.suppress(OSError):
            one.connect(path)
            return
        time.sleep(0.05)
    raise Fault("nobody listens on the socket")


def check_left(tool, material, keys):
    """A socket that a killed server left: commands do it by themselves, and the next server listens there; over TLS
    nobody is asked whom nobody vouches for."""
    ledger, key = material.ledger()
    path = os.path.join(ledger, SOCKET)
    with material.server(ledger, key) as server:
        wait_for(path, server)
        done(tool.run(ledger, *GRANT), "beside a server")
        server.kill()
        if not os.path.exists(path):
            raise Fault("nothing is left of a killed server")
        done(tool.run(ledger, *GRANT), "behind a killed server")
    certificate, private = material.certificate("reached")
    with material.server(ledger, key, words=["--tls-certificate", certificate, "--tls-key", private]) as server:
        wait_for(path, server)
        done(tool.run(ledger, *GRANT), "beside the next server, of TLS")
        # A process that hangs for a while is there all the same.
        server.process.send_signal(signal.SIGSTOP)
        ended = tool.run(ledger, *GRANT)
        server.process.send_signal(signal.SIGCONT)
        refused(ended, [TRY_AGAIN], "beside a server that hangs")
        done(tool.run(ledger, *GRANT), "beside a server that goes on")
        refused(tool.run_plain(*GRANT, "--server", "https://localhost:%d" % server.port, "--token-file", keys["admin"],
                               timeout=SOON_SECONDS), [UNREACHABLE], "a certificate that nobody vouches for")
    return 6


def check_stopped(tool, material):
    """An idle server that is told to stop does so at once; its socket goes, and commands do it by themselves."""
    ledger, key = material.ledger()
    with material.server(ledger, key) as server:
        wait_for(os.path.join(ledger, SOCKET), server)
        done(tool.run(ledger, *GRANT), "beside a server")
        seconds = server.stop()
    if os.path.exists(os.path.join(ledger, SOCKET)):
        raise Fault("the socket of a server that ended stays")
    done(tool.run(ledger, *GRANT), "behind a server")
    # Longer takes only who waits for what never ends.
    if seconds > DRAIN_SECONDS - 5:
        raise Fault("an idle server takes %.0f s to end, all that answers under way have" % seconds)
    return 3


def check_reader(tool, material):
    """Beside a server that only reads commands write by themselves; beside another too, they ask that one."""
    ledger, key = material.ledger()
    path = os.path.join(ledger, SOCKET)
    with material.server(ledger, key, words=["--read-only"]) as reader:
        done(tool.run(ledger, *GRANT), "beside a reader")
        if os.path.exists(path):
            raise Fault("a reader listens on a socket")
        with material.server(ledger, key) as writer:
            wait_for(path, writer)
            reader.stop()
            done(tool.run(ledger, *GRANT), "beside a writer behind a reader")
    return 3


def check_length(tool, material):
    """A socket's path that may be too long: the server says so and runs, and commands wait for its end."""
    for size in (PATH_BYTES + 1, MOST_PATH_BYTES + 1):
        ledger = ledger_path(tool.directory("long"), size)
        os.makedirs(os.path.dirname(ledger))
        tool.ask(ledger, "init", "--catalog", tool.catalog())
        with material.server(ledger, tool.key(ledger)) as server:
            is_told = "too long for a socket" in server.log_text()
            if is_told:
                refused(tool.run(ledger, *GRANT), [TRY_AGAIN], "beside a server without a socket")
            elif size > MOST_PATH_BYTES:
                raise Fault("nothing is said of a path that is too long: %s" % server.log_text()[:200])
            else:
                wait_for(os.path.join(ledger, SOCKET), server)
                done(tool.run(ledger, *GRANT), "beside a server with a long path")
            if server.grant("bob", 1)[0] != 200 or os.path.exists(os.path.join(ledger, SOCKET)) == is_told:
                raise Fault("a server does not go on for a path of %d bytes" % size)
            if tool.run(ledger, "can", "bob", "export").returncode != 0:
                raise Fault("what only reads does not work beside it")
            server.require_alive()
    return 8


def check(tool, material, report, server, keys):
    """All of it; how much of what."""
    checks = {
        "stopped": lambda: check_stopped(tool, material), "tokens": lambda: check_tokens(tool, material, server, keys),
        "strangers": lambda: check_strangers(tool, keys), "addresses": lambda: check_addresses(tool, material, keys),
        "rights": lambda: check_rights(tool, material), "left": lambda: check_left(tool, material, keys),
        "readers": lambda: check_reader(tool, material), "length": lambda: check_length(tool, material)}
    counts = {}

    def guard(name):
        report.guard("commands, " + name, lambda: counts.update({name: checks[name]()}))

    in_parallel(guard, checks)
    return {name: counts[name] for name in checks if name in counts}

"""What all checks of the server share: its material, a running server, HTTP by hand."""

import http.client
import json
import os
import resource
import select
import signal
import subprocess
import time
import urllib.parse

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness import CATALOG, Fault

START_SECONDS = 30
# What the server itself allows, and a little for a busy machine.
DRAIN_SECONDS = 25
STOP_SECONDS = DRAIN_SECONDS + 10
UNLIMITED = "keys=0,customers=0,anonymous=0,failures=0,signals=0,appends=0"
OPEN_FILES = 16_384


class Material:
    """Files that servers are started with, made once."""

    def __init__(self, tool):
        self.tool = tool
        self.catalog = self.write("catalog.json", json.dumps(CATALOG))
        self.authority = self.path("authority.pem")
        self.command("simulate", "authority", self.authority, "--root", self.path("root.pem"))
        self.revenuecat_secret = "Bearer check-%s" % os.urandom(16).hex()
        self.write("revenuecat.txt", self.revenuecat_secret)
        self.stores = self.write("stores.json", json.dumps({
            "appStore": {
                "bundleIds": ["com.example.app"], "appAppleId": 1234567890,
                "roots": ["root.pem"], "builtInRoots": False},
            "revenueCat": {"authorizationFile": "revenuecat.txt"}}))
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.customer_keys = self.write("customers.pem", self.private.public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo).decode())

    def path(self, name):
        return os.path.join(self.tool.scratch, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def command(self, *words):
        """The standard output of a command without a ledger."""
        done = subprocess.run(
            [self.tool.binary, *words], capture_output=True, env=self.tool.environment,
            cwd=self.tool.scratch, timeout=600, check=False)
        if done.returncode != 0:
            raise Fault("%s ended with %d: %s" % (
                words[0], done.returncode, done.stderr[-300:].decode(errors="replace")))
        return done.stdout

    def token(self, customer, seconds=3600):
        """A customer's token."""
        now = int(time.time())
        claims = {"sub": customer, "iat": now, "exp": now + seconds}
        return jwt.encode(claims, self.private, "ES256")

    def notifications(self, count, kind="SUBSCRIBED/INITIAL_BUY", product="month"):
        """Bodies of signed notifications, of a purchase each."""
        text = self.command(
            "simulate", "trigger", kind, "--authority", self.authority, "--count", str(count),
            "--transaction", json.dumps({"productId": product}),
            "--renewal-info", json.dumps({"productId": product, "autoRenewProductId": product}))
        return text.splitlines()

    def transaction(self, **members):
        """A signed transaction."""
        return self.command(
            "simulate", "trigger", "TRANSACTION", "--authority", self.authority,
            "--transaction", json.dumps(members)).decode().strip()

    def ledger(self):
        """A ledger with a catalog, and the text of an admin key."""
        path = self.tool.make()
        made = self.tool.ask_json(path, "keys", "create", "--scope", "admin")
        return path, made["key"]


class Server:
    """A running server; ends with the block that it is used in."""

    def __init__(self, material, ledger=None, key=None, words=(), environment=None, files=None):
        words = ["serve", "--port", "0", "--json", "--stores", material.stores,
                 "--customer-keys", material.customer_keys, *words]
        if ledger is None:
            words += ["--ephemeral", "--catalog", material.catalog]
        else:
            words += ["--ledger", ledger]
        self.arguments = [material.tool.binary, *words]
        self.environment = {**material.tool.environment, "ENTITLE_LIMITS": UNLIMITED,
                            # All clients of a check have one address.
                            "ENTITLE_CONNECTIONS_PER_ADDRESS": "1000000",
                            **(environment or {})}
        self.log_path = os.path.join(material.tool.directory("server") + ".log")
        self.log = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            self.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            env=self.environment, cwd=material.tool.scratch,
            preexec_fn=None if files is None else lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, files))
        try:
            self.first_line = self.read_line()
            hello = json.loads(self.first_line)
            url = urllib.parse.urlsplit(hello["url"])
            self.url, self.pid = hello["url"], hello["pid"]
            self.host, self.port = url.hostname, url.port
            self.key = key or hello.get("key")
        except Exception as error:
            self.close()
            raise Fault("the server does not start (%s): %s" % (error, self.log_text()[-300:])) \
                from error

    def read_line(self):
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            raise Fault("no first line")
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def log_text(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """SIGTERM; seconds until the end. It has to end with 0."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Fault("the server does not end within %d s" % STOP_SECONDS) from error
        if code != 0:
            raise Fault("the server ended with %d: %s" % (code, self.log_text()[-300:]))
        return time.monotonic() - begin

    def kill(self):
        self.process.kill()
        self.process.wait()

    def require_alive(self):
        if self.process.poll() is not None:
            raise Fault("the server died with %d: %s" % (
                self.process.returncode, self.log_text()[-1000:]))

    def memory(self, name="VmRSS"):
        """MiB of resident memory, now or (`VmHWM`) at most."""
        with open("/proc/%d/status" % self.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) / 1024
        raise Fault("no %s" % name)

    def processor_seconds(self):
        """Seconds of processor time that the server has used."""
        with open("/proc/%d/stat" % self.pid, encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def connect(self, timeout=10):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, key=None, headers=None):
        """One request on a connection of its own; status, headers and JSON (or text)."""
        connection = self.connect()
        try:
            return exchange(connection, method, path, body, key or self.key, headers)
        finally:
            connection.close()


def exchange(connection, method, path, body=None, key=None, headers=None):
    """One request; status, headers and JSON (or text)."""
    sent = {"Content-Type": "application/json"} if body is not None else {}
    if key:
        sent["Authorization"] = "Bearer " + key
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    connection.request(method, path, body, {**sent, **(headers or {})})
    response = connection.getresponse()
    data = response.read()
    kind = response.headers.get_content_type()
    value = json.loads(data) if kind.endswith("json") and data else data.decode()
    return response.status, response.headers, value


def expect(answer, status, what, **members):
    """The JSON of an answer that has to have this status and these members."""
    got, _, value = answer
    if got != status:
        raise Fault("%s: %d instead of %d: %s" % (what, got, status, str(value)[:300]))
    for name, wanted in members.items():
        if value.get(name) != wanted:
            raise Fault("%s: %s is %r instead of %r" % (what, name, value.get(name), wanted))
    return value


def raise_file_limit():
    """Many connections need many files, ours and the server's, which inherits the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

"""A running server, and HTTP."""

import http.client
import json
import os
import resource
import select
import signal
import subprocess
import time
import urllib.parse

from harness.command import TIMEOUT
from harness.report import Fault

START_SECONDS = 60
# What the server itself allows, and a little for a busy machine.
DRAIN_SECONDS = 25
STOP_SECONDS = DRAIN_SECONDS + 10
UNLIMITED = "keys=0,customers=0,anonymous=0,failures=0,signals=0,appends=0,restores=0"
OPEN_FILES = 16_384


class Ended(Fault):
    """The server ended by itself."""

    def __init__(self, server):
        self.code = server.process.wait(TIMEOUT)
        self.errors = server.log_text()[-1000:]
        super().__init__("the server ended with %d: %s" % (self.code, self.errors))


class Server:
    """`entitle serve`; ends with the block that it is used in."""

    def __init__(self, tool, ledger=None, key=None, words=(), environment=None):
        """Serves a ledger, or an ephemeral one; without a key one is made."""
        if ledger is not None and key is None:
            key = tool.key(ledger)
        place = ["--ephemeral"] if ledger is None else ["--ledger", ledger]
        self.log_path = tool.directory("server") + ".log"
        self.log = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            [tool.binary, "serve", "--port", "0", "--json", *words, *place],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, cwd=tool.scratch,
            # All clients of a check have one address.
            env={**tool.environment, "ENTITLE_LIMITS": UNLIMITED,
                 "ENTITLE_CONNECTIONS_PER_ADDRESS": "1000000", **(environment or {})})
        try:
            self.first_line = self.read_line()
            hello = json.loads(self.first_line)
            url = urllib.parse.urlsplit(hello["url"])
            self.url, self.pid = hello["url"], hello["pid"]
            self.host, self.port = url.hostname, url.port
            self.key = key or hello.get("key")
        except BaseException:
            self.close()
            raise

    def read_line(self):
        """What it says once it is ready."""
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        if not line:
            # Without a line and alive it hangs: that ends here.
            if not readable:
                self.process.kill()
            raise Ended(self)
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.kill()
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
            raise Ended(self)
        return time.monotonic() - begin

    def kill(self):
        self.process.kill()
        self.process.wait()

    def require_alive(self):
        if self.process.poll() is not None:
            raise Ended(self)

    def memory(self, name="VmRSS"):
        """MiB by a name of proc_pid_status(5): resident now, or (`VmHWM`) at most."""
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

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, key=None, headers=None, connection=None):
        """One request, on a connection of its own if none is given; as of `exchange`."""
        used = connection or self.connect()
        try:
            return exchange(used, method, path, body, key or self.key, headers)
        except ConnectionError as error:
            raise self.gone(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise Fault("the server does not answer (%s): %s" % (
                error, self.log_text()[-300:])) from error
        finally:
            if connection is None:
                used.close()

    def gone(self, error):
        """What a connection that was closed means: it ends a moment before its process."""
        try:
            return Ended(self)
        except subprocess.TimeoutExpired:
            return Fault("the server lives and closes a connection: %s" % error)

    def grant(self, customer, number):
        """Gives a grant; the status and the problem's code, if it is one."""
        status, _, answer = self.ask("POST", "/v1/customers/%s/grants" % customer, {
            "grantId": "g%d" % number, "tier": "pro"})
        return status, answer.get("code")


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

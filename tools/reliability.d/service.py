"""A running server on a ledger, spoken to by plain HTTP."""

import http.client
import json
import os
import select
import signal
import subprocess

from harness import COMMAND_TIMEOUT, Fault

START_SECONDS = 60
UNLIMITED = "keys=0,customers=0,anonymous=0,failures=0,signals=0,appends=0"


class Ended(Fault):
    """The server ended by itself."""

    def __init__(self, service):
        self.code = service.process.wait(COMMAND_TIMEOUT)
        self.errors = service.errors()
        super().__init__("the server ended with %d: %s" % (self.code, self.errors))


class Service:
    """`entitle serve`; ends with the block that it is used in."""

    def __init__(self, tool, ledger, extra_environment=None, key=None):
        self.tool, self.ledger = tool, ledger
        self.key = key or tool.ask_json(ledger, "keys", "create", "--scope", "admin")["key"]
        self.log = open(tool.directory("service") + ".log", "w+b")
        self.process = subprocess.Popen(
            tool.arguments(ledger, "serve", "--port", "0", "--json"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.log, cwd=tool.scratch, env={
                **tool.environment, "ENTITLE_LIMITS": UNLIMITED, **(extra_environment or {})})
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            try:
                # Without a line and alive it hangs: that ends here, as by kill -9.
                if ready == []:
                    self.process.kill()
                raise Ended(self)
            finally:
                self.close()
        self.port = int(json.loads(line)["url"].rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """SIGTERM; it has to end with 0."""
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(COMMAND_TIMEOUT) != 0:
            raise Ended(self)

    def errors(self):
        self.log.seek(0)
        return self.log.read()[-400:].decode(errors="replace")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, path, body=None, connection=None):
        """One request; its status and JSON."""
        used = connection or self.connect()
        try:
            used.request(method, path, None if body is None else json.dumps(body), {
                "Content-Type": "application/json", "Authorization": "Bearer " + self.key})
            response = used.getresponse()
            text = response.read()
        except ConnectionError as error:
            # It may be dying: a connection ends a moment before its process.
            raise Ended(self) from error
        except (OSError, http.client.HTTPException) as error:
            raise Fault("the server does not answer (%s): %s" % (error, self.errors())) from error
        finally:
            if connection is None:
                used.close()
        return response.status, json.loads(text) if text else None

    def grant(self, customer, number):
        """Gives a grant; the status and the problem's code, if it is one."""
        status, answer = self.ask("POST", "/v1/customers/%s/grants" % customer, {
            "grantId": "g%d" % number, "tier": "pro"})
        return status, answer.get("code")

    def memory(self, name):
        """MiB by a name of proc_pid_status(5)."""
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) / 1024
        raise Fault("no %s" % name)

    def open_files(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

"""Running the server: TLS, a reader beside a writer, ports, bad configuration, another master key, secrets."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import time

import http2
import traces
from harness.report import Fault
from harness.server import expect

IO, CONFIGURATION = 74, 78


def refused(material, code, words, what, ledger=None, environment=None):
    """A server that must not start: ends with this code and one problem; what it says, and the problem."""
    place = ["--ledger", ledger] if ledger else ["--ephemeral"]
    try:
        done = material.tool.run_plain(
            "serve", "--json", *words, *place, environment=environment, timeout=60)
    except Fault as error:
        raise Fault("%s: the server starts all the same" % what) from error
    text = done.stderr.decode(errors="replace")
    problems = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if done.returncode != code or done.stdout or len(problems) != 1 or not (
            problems[0].get("code") and problems[0].get("title")):
        raise Fault("%s: exit %d instead of %d: %s%s" % (
            what, done.returncode, code, done.stdout[:200].decode(), text[:400]))
    return text, problems[0]


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def check_socket(material):
    """On a socket the interface is the same, keys and all, and a killed server's file is in nobody's way."""
    path = os.path.join(material.tool.directory("listening"), "api.sock")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for end in ("kill", "stop"):
        with material.server(words=["--host", "unix:" + path]) as server:
            if server.url != "unix:" + path:
                raise Fault("a socket: the server says %s" % server.url)
            for key, call, expected in ((None, "/healthz", 200), (None, "/v1/status", 401),
                                        (server.key, "/v1/status", 200)):
                connection = UnixConnection(path)
                connection.request("GET", call, headers={"Authorization": "Bearer " + key} if key else {})
                status = connection.getresponse().status
                connection.close()
                if status != expected:
                    raise Fault("a socket: %s %d instead of %d" % (call, status, expected))
            getattr(server, end)()
    for bad in ("unix:", "unix:/" + "x" * 103):
        refused(material, CONFIGURATION, ["--host", bad], "the address " + bad[:20])
    refused(material, IO, ["--host", "unix:/no/such/folder/api.sock"], "a folder that is not there")


def check_tls(material):
    """curl takes the certificate; plain HTTP on the port fails cleanly, and others go on."""
    certificate, key = material.certificate("tls")
    words = ["--tls-certificate", certificate, "--tls-key", key]

    def curl(url, *more):
        return subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "10", *more, url + "/healthz"],
            capture_output=True, text=True, timeout=30, check=False)

    with material.server(words=words) as server:
        if not server.url.startswith("https://"):
            raise Fault("TLS: the server says %s" % server.url)
        for _ in range(2):
            done = curl(server.url, "--cacert", certificate)
            if done.returncode != 0 or json.loads(done.stdout) != {"status": "ok"}:
                raise Fault("TLS: curl ended with %d: %s" % (done.returncode, done.stderr[:200]))
            # Whom nobody vouches for is no server: curl's exit code 60.
            done = curl(server.url)
            if done.returncode != 60:
                raise Fault("TLS: curl without the certificate ended with %d" % done.returncode)
            plain = curl("http://%s:%d" % (server.host, server.port))
            if plain.returncode == 0:
                raise Fault("TLS: plain HTTP was answered: %s" % plain.stdout[:100])
        for version, is_spoken in ((ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_1, False),
                                   (ssl.TLSVersion.TLSv1, False)):
            context = ssl.create_default_context(cafile=certificate)
            # Else it is our side that refuses what is old.
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = version
            try:
                with socket.create_connection((server.host, server.port), 10) as plain, \
                        context.wrap_socket(plain, server_hostname="localhost"):
                    found = True
            except OSError:
                found = False
            if found != is_spoken:
                raise Fault("TLS: %s is %sspoken" % (version.name, "" if found else "not "))
        server.require_alive()
        server.stop()
    other = material.write("other.key", subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        capture_output=True, check=True, text=True, timeout=60).stdout)
    for bad, what in (
            (["--tls-certificate", certificate], "a certificate without a key"),
            (["--tls-key", key], "a key without a certificate"),
            (["--tls-certificate", key, "--tls-key", key], "a key for a certificate"),
            (["--tls-certificate", certificate, "--tls-key", other], "another certificate's key"),
            (["--tls-certificate", "absent.pem", "--tls-key", key], "a file that is not there")):
        refused(material, CONFIGURATION, ["--port", "0", *bad], what)
    return 13


def check_reader(material):
    """A reader beside a writer: sees what the other records, and records nothing."""
    ledger, key = material.ledger()
    with material.server(ledger, key) as writer, \
            material.server(ledger, key, words=["--read-only"]) as reader:
        if writer.port == reader.port:
            raise Fault("two servers on one port")
        for number in range(20):
            grant = {"grantId": "g%d" % number, "tier": "pro"}
            answer = writer.ask("POST", "/v1/customers/r%d/grants" % number, grant)
            expect(answer, 200, "the writer", outcome="appended")
            seen = {"Ledger-Min-Sequence": answer[1]["Ledger-Sequence"]}
            expect(reader.ask(
                "GET", "/v1/customers/r%d/features/export" % number, headers=seen), 200,
                "the reader", allowed=True)
        expect(reader.ask("POST", "/v1/customers/r/grants", {"tier": "pro"}), 403,
               "the reader is asked to record", code="read_only")
        _, problem = refused(material, 75, ["--port", "0"], "a second writer", ledger=ledger)
        reader.stop()
        writer.stop()
    if not problem.get("hint"):
        raise Fault("a second writer is not told what to do: %s" % problem)
    return 23


def check_ports(material):
    """Port 0 picks one each; one in use and addresses that are none are refused."""
    with material.server() as one, material.server() as two:
        if 0 in (one.port, two.port) or one.port == two.port:
            raise Fault("ports %d and %d" % (one.port, two.port))
        refused(material, IO, ["--port", str(one.port)], "a port in use")
        refused(material, IO, ["--port", "0", "--host", "192.0.2.1"], "an address of others")
        refused(material, IO, ["--port", "0", "--host", "nobody.invalid"], "an unknown host")
        one.stop()
        two.stop()
    for port in ("65536", "-1"):
        refused(material, 64, ["--port=" + port], "port " + port)
    refused(material, CONFIGURATION, [], "a port in words", environment={"ENTITLE_PORT": "http"})
    return 6


def check_configuration(material):
    """Configuration that cannot be used is refused before anything is listened on."""
    base = {"bundleIds": ["com.example.app"], "appAppleId": 1, "builtInRoots": False, "roots": ["root.pem"]}
    stores = {
        "text": "no JSON", "a list": [], "a member that is not known": {"appleStore": {}},
        "no bundle": {"appStore": {**base, "bundleIds": []}},
        "no root": {"appStore": {**base, "roots": []}},
        "a root that is not there": {"appStore": {**base, "roots": ["absent.pem"]}},
        "a root that is a key": {"appStore": {**base, "roots": ["tls.key"]}},
        "a secret that is not there": {"revenueCat": {"authorizationFile": "absent.txt"}},
        "an empty secret": {"revenueCat": {"authorizationFile": "empty.txt"}},
        "a short secret": {"revenueCat": {"hmacSecretFile": "short.txt"}}}
    material.write("empty.txt", "")
    material.write("short.txt", "guess-me")
    secret = material.write("secret.txt", "s3cret-that-no-message-may-hold")
    # The control: what each of them is a change of can be used.
    path = material.write("good-stores.json", json.dumps({"appStore": base, "revenueCat": {
        "authorizationFile": "secret.txt", "hmacSecretFile": "secret.txt"}}))
    with material.server(words=["--stores", path]) as server:
        server.stop()
    count = 1
    for what, value in stores.items():
        path = material.write("bad-stores.json", value if what == "text" else json.dumps(value))
        refused(material, CONFIGURATION, ["--port", "0", "--stores", path], "stores.json: " + what)
        count += 1
    private = material.path("tls.key")
    for what, path in (("a private key", private), ("no key", secret), ("an empty file",
                       material.path("empty.txt")), ("a file that is not there", "absent.pem")):
        text, _ = refused(
            material, CONFIGURATION, ["--port", "0", "--customer-keys", path], "tokens: " + what)
        if "s3cret" in text or "PRIVATE" in text:
            raise Fault("a message holds a secret: %s" % text[:200])
        count += 1
    for what, value in (("ENTITLE_LIMITS", "keys=many"), ("ENTITLE_LOG_LEVEL", "loud"),
                        ("ENTITLE_CONNECTIONS", "0"), ("ENTITLE_LIMITS", "nobody=1/1"),
                        ("ENTITLE_DRIFT_SECONDS", "-1"), ("ENTITLE_AUDIT_SECONDS", "-1"),
                        ("ENTITLE_AUDIT_FULL_SECONDS", "x"), ("ENTITLE_DRIFT_SAMPLE", "0"),
                        ("ENTITLE_TRUSTED_PROXIES", "10.0.0.0/33")):
        refused(material, CONFIGURATION, ["--port", "0"], what, environment={what: value})
        count += 1
    ledger, _ = material.ledger()
    with open(os.path.join(ledger, "keys.json"), "w", encoding="utf-8") as file:
        file.write("{")
    refused(material, CONFIGURATION, ["--port", "0"], "keys.json", ledger=ledger)
    return count + 1


def check_rotation(material):
    """The master key is replaced while the server runs: it goes on, an erasure wraps by the new one."""
    ledger, key = material.ledger()
    with open(os.path.join(ledger, "key"), encoding="utf-8") as file:
        old = file.read()
    named = {"ENTITLE_CUSTOMER_ISSUER": "https://issuer.example", "ENTITLE_CUSTOMER_AUDIENCE": "us"}
    with material.server(ledger, key, environment=named) as server:
        if "are not held against" in server.log_text():
            raise Fault("a warning of what is configured")
        for customer in ("before", "gone"):
            expect(server.ask("POST", "/v1/customers/%s/grants" % customer, {"tier": "pro"}), 200,
                   "before the rotation")
        material.tool.ask(ledger, "keys", "rotate-master")
        expect(server.ask("POST", "/v1/customers/after/grants", {"tier": "pro"}), 200,
               "a new customer after the rotation")
        expect(server.ask("DELETE", "/v1/customers/gone"), 200, "an erasure after the rotation")
        for customer in ("before", "after"):
            expect(server.ask("GET", "/v1/customers/%s/features/export" % customer), 200,
                   "after the rotation", allowed=True)
        server.stop()
    # The control: the old key does not open what the new one wraps.
    refused(material, CONFIGURATION, ["--port", "0"], "the old master key", ledger=ledger,
            environment={"ENTITLE_KEY": old})
    with material.server(ledger, key) as server:
        expect(server.ask("GET", "/v1/customers/after/features/export"), 200,
               "the new master key", allowed=True)
        server.stop()
    return 8


def check_secrets(material):
    """Neither the process's arguments nor anything that it says holds a secret or a customer."""
    customer = "customer-whom-no-log-names"
    ledger, key = material.ledger()
    token = material.signer.token(customer)
    with material.server(ledger, key, words=["--log-level", "trace"]) as server:
        path = "/v1/customers/" + customer
        expect(server.ask("POST", path + "/grants", {"tier": "pro", "reason": "why-" + customer}),
               200, "a grant")
        expect(server.ask("GET", path, key=token), 200, "a customer asks", customer=customer)
        expect(server.ask("GET", path, key=token + "x"), 401, "a bad token")
        expect(server.ask("GET", "/v1/customers/other-%s" % customer, key=token), 404, "another")
        expect(server.ask("POST", "/v1/signals/revenuecat", {"event": {"id": customer}}, key="no",
                          headers={"Authorization": material.revenuecat_secret}), 400, "a webhook")
        expect(server.ask("GET", path + "?at=" + customer), 400, "a bad question")
        # One tells nothing of the next: neither of the process nor of how much it is asked.
        ids = [server.ask("GET", "/healthz")[1]["Request-Id"] for _ in range(2)]
        if len(os.path.commonprefix(ids)) >= 8:
            raise Fault("request ids are told apart by their ends alone: %s" % ids)
        status, _, metrics = server.ask("GET", "/metrics")
        with open("/proc/%d/cmdline" % server.pid, "rb") as file:
            arguments = file.read().decode()
        time.sleep(0.2)
        said = {"its arguments": arguments, "its log": server.log_text(), "its metrics": metrics,
                "its output": server.first_line.decode()}
        if status != 200 or not said["its log"]:
            raise Fault("secrets: nothing was said")
        if said["its log"].count("are not held against") != 2:
            raise Fault("tokens of any issuer and for anybody are taken without a word")
        # A key is el_<id>_<secret>, and base64url's own "_" may stand in its secret.
        secrets = {"the key": key, "the key's secret": key.split("_", 2)[2], "a token": token,
                   "RevenueCat's secret": material.revenuecat_secret, "a customer": customer}
        for place, text in said.items():
            for what, secret in secrets.items():
                if secret in text:
                    raise Fault("%s holds %s" % (place, what))
        server.stop()
    return len(said) * len(secrets)


def passed(material, listener):
    """A server on a socket that another process has bound, as systemd starts one (sd_listen_fds)."""
    # Whose number counts is known once it runs; dash knows no descriptor of two digits.
    start = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve --ephemeral --json 3<&%d' % listener.fileno()
    return subprocess.Popen(
        ["/bin/bash", "-c", start, material.tool.binary], pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=material.tool.scratch, env=material.tool.environment)


def check_activation(material):
    """Who connects before the server is there waits and is answered, also behind a second server on the same socket."""
    path = material.path("passed")
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, path)):
        with socket.socket(family) as listener:
            listener.bind(address)
            listener.listen(64)
            place = listener.getsockname()
            for _ in range(2):
                with socket.socket(family) as client:
                    client.settimeout(60)
                    client.connect(place)
                    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    server = passed(material, listener)
                    try:
                        hello = json.loads(server.stdout.readline() or b"{}")
                        url = "unix:" + path if family == socket.AF_UNIX else "http://127.0.0.1:%d" % place[1]
                        if hello.get("url") != url:
                            raise Fault("a socket that is passed: the server says %s" % hello)
                        answer = client.recv(65536)
                        if not answer.startswith(b"HTTP/1.1 200") or b"\r\ndate: " not in answer.lower():
                            raise Fault("a socket that is passed: %s" % answer[:200])
                        server.terminate()
                        if server.wait(60) != 0:
                            raise Fault("a socket that is passed: the server ends with %d" % server.returncode)
                    finally:
                        server.kill()
                        server.stdout.close()


def check_manager(material):
    """A service manager hears when the server is ready, that it is well, and that it stops (sd_notify)."""
    path = material.path("notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(20)
        with material.server(environment={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"}) as server:
            heard = [manager.recv(100).decode() for _ in range(4)]
            if heard[0] != "READY=1" or set(heard[1:]) != {"WATCHDOG=1"}:
                raise Fault("a service manager hears %s" % heard)
            server.stop()
            while (state := manager.recv(100).decode()) != "STOPPING=1":
                if state != "WATCHDOG=1":
                    raise Fault("a service manager hears %s at the end" % state)
    # Nobody who listens is no reason not to serve.
    with material.server(environment={"NOTIFY_SOCKET": material.path("nobody")}) as server:
        server.stop()


def run(tool, material, report, seed):
    """All of it."""
    checks = {"tls": check_tls(material), "reader": check_reader(material)}
    check_socket(material)
    checks["ports"] = check_ports(material)
    checks["configuration"] = check_configuration(material)
    checks["rotation"] = check_rotation(material)
    checks["secrets"] = check_secrets(material)
    check_manager(material)
    check_activation(material)
    checks["http2"] = http2.run(material)
    checks["spans"] = traces.run(material, refused)
    report.figures["operation"] = checks

"""The interface description is valid OpenAPI 3.1, and the server answers as it says.

openapi-spec-validator judges the description; Schemathesis makes requests of it, valid ones and
invalid ones, and holds every answer against it, once with an admin key and once as a customer.
Controls: a description with a fault, and a proxy that alters one answer.
"""

import copy
import http.server
import json
import os
import subprocess
import sys
import threading

from openapi_spec_validator import OpenAPIV31SpecValidator

from harness.report import Fault
from harness.server import expect

FOLDER = os.path.dirname(os.path.abspath(__file__))
CUSTOMER = "alice"
RUN_SECONDS = 600


class AlteringProxy(http.server.ThreadingHTTPServer):
    """Hands requests on, and alters the answers to one path."""

    daemon_threads = True

    def __init__(self, server, path, status, body):
        super().__init__(("127.0.0.1", 0), AlteringHandler)
        self.server, self.path, self.status, self.body = server, path, status, body
        self.altered = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class AlteringHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        proxy = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = proxy.server.connect()
        headers = {name: value for name, value in self.headers.items() if name != "Host"}
        connection.request(self.command, self.path, body or None, headers)
        response = connection.getresponse()
        status, data = response.status, response.read()
        connection.close()
        if status == 200 and self.path == proxy.path:
            status, data = proxy.status or status, proxy.body or data
            proxy.altered += 1
        self.send_response(status)
        for name, value in response.headers.items():
            if name.lower() not in ("content-length", "date"):
                self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def __getattr__(self, name):
        # Every method, known or not, is handed on.
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def log_message(self, *_):
        pass


def schemathesis(tool, url, credential, seed, examples, only=None, parameters=None):
    """Runs Schemathesis on the description at an address; its report."""
    place = tool.directory("schemathesis")
    with open(os.path.join(FOLDER, "schemathesis.toml"), encoding="utf-8") as file:
        text = file.read()
    with open(place + ".toml", "w", encoding="utf-8") as file:
        file.write("[parameters]\n%s\n%s" % ("".join(
            '"%s" = %s\n' % (name, json.dumps(value))
            for name, value in (parameters or {}).items()), text))
    words = [
        os.path.join(os.path.dirname(sys.executable), "schemathesis"),
        "--config-file", place + ".toml", "run", url + "/openapi.json", "--url", url,
        "--header", "Authorization: Bearer " + credential, "--checks", "all",
        "--max-examples", str(examples), "--seed", str(seed), "--workers", "1",
        "--generation-database", "none", "--suppress-health-check", "all",
        "--continue-on-failure", "--no-color",
        "--report", "json", "--report-json-path", place + ".json"]
    words += ["--include-path", only] if only else []
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=RUN_SECONDS, cwd=tool.scratch, check=False)
    try:
        with open(place + ".json", encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise Fault("schemathesis ended with %d: %s" % (
            done.returncode, (done.stdout + done.stderr)[-600:])) from error
    if not found["complete"] or found["errors"]:
        raise Fault("schemathesis did not come to its end:\n%s" % (
            done.stdout[max(0, done.stdout.find("= ERRORS =")):][:2000]))
    return found, done.stdout


def examine(tool, server, credential, seed, examples, parameters):
    """No 5xx and no undocumented answer; how many requests, and how many were taken."""
    found, text = schemathesis(
        tool, server.url, credential, seed, examples, parameters=parameters)
    server.require_alive()
    if found["failures"]:
        raise Fault("schemathesis:\n%s" % text[max(0, text.find("= FAILURES =")):][:6000])
    if '"fault"' in server.log_text():
        raise Fault("the server noted a fault: %s" % server.log_text()[:500])
    accepted = sum(
        phase["accepted"] for rates in found["valid_rates"].values() for phase in rates.values())
    if not found["operations"]["tested"] or not accepted:
        raise Fault("schemathesis tested nothing")
    return {
        "operations": found["operations"]["tested"],
        "requests": found["test_cases"]["generated"], "accepted": accepted}


def faults_of(document):
    """What openapi-spec-validator finds."""
    return [error.message[:200] for error in OpenAPIV31SpecValidator(document).iter_errors()]


def check_validity(document):
    faults = faults_of(document)
    if faults:
        raise Fault("the description: %s" % faults[:3])
    broken = copy.deepcopy(document)
    del broken["info"]["title"]
    if not faults_of(broken):
        raise Fault("control: a description without a title was found valid")


def check_controls(tool, server, seed):
    """Altered answers must be found, and unaltered ones not."""
    plants = (
        (418, None, True), (500, None, True), (None, b'{"status":7}', True), (None, None, False))
    for status, body, is_fault in plants:
        with AlteringProxy(server, "/healthz", status, body) as proxy:
            found, _ = schemathesis(tool, proxy.url, server.key, seed, 3, only="/healthz")
            if bool(found["failures"]) != is_fault or not proxy.altered:
                raise Fault("control: %s %s gave %s" % (status, body, found["failures"][:1]))
    return sum(is_fault for _, _, is_fault in plants)


def run(tool, material, report, seed, examples):
    """All of it, against one server."""
    with material.server() as server:
        document = expect(server.ask("GET", "/openapi.json"), 200, "the description")
        check_validity(document)
        grants = "/v1/customers/%s/grants" % CUSTOMER
        expect(server.ask("POST", grants, {"tier": "pro"}), 200, "a grant")
        # Of an address of this machine, where nothing is sent.
        webhook = expect(server.ask("POST", "/v1/webhooks", {"url": "https://127.0.0.1/hook"}), 201, "a webhook")
        # A sequence that the log does not reach yet is answered 503 after two seconds, on purpose.
        reached = {"header.Ledger-Min-Sequence": "1", "path.webhook": webhook["id"]}
        figures = {"asAdmin": examine(tool, server, server.key, seed, examples, reached)}
        figures["asCustomer"] = examine(
            tool, server, material.signer.token(CUSTOMER), seed, examples,
            {**reached, "path.id": CUSTOMER})
        figures["plantedAndFound"] = check_controls(tool, server, seed)
        server.stop()
    report.figures["description"] = figures

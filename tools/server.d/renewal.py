"""SIGHUP: stores, customers' keys and certificate are read again while the server goes on."""

import json
import signal
import subprocess
import time

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness import Fault
from serving import Server, expect

WAIT_SECONDS = 20
AGAIN = "were read again"
UNUSABLE = "cannot be used"


def hang_up(server, sentence):
    """SIGHUP; waits until the log says one sentence more often than before."""
    before = server.log_text().count(sentence)
    server.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + WAIT_SECONDS
    while server.log_text().count(sentence) == before:
        server.require_alive()
        if time.monotonic() > end:
            raise Fault("SIGHUP: the log does not say %r: %s" % (
                sentence, server.log_text()[-300:]))
        time.sleep(0.05)


def certificate(material, name):
    """A new self-signed certificate in the files of that name; their paths."""
    paths = material.path(name + ".pem"), material.path(name + ".key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", paths[1], "-out", paths[0], "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        capture_output=True, check=True, timeout=60)
    return paths


def copy(source, target):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


def check_trust(material):
    """A webhook's secret and the keys of customers' tokens: new ones count, old ones no longer."""
    secrets = ["Bearer first-%s" % ("1" * 24), "Bearer second-%s" % ("2" * 24)]
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in secrets]
    stores = material.write("renewed.json", json.dumps(
        {"revenueCat": {"authorizationFile": "renewed.txt"}}))

    now = int(time.time())
    # The same before and after: the server remembers those that it verified.
    tokens = [jwt.encode({"sub": "ann", "iat": now, "exp": now + 600}, key, "ES256")
              for key in keys]

    def write(number):
        material.write("renewed.txt", secrets[number])
        return material.write("renewed.pem", keys[number].public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo).decode())

    def require(server, number, what):
        for index, (secret, token) in enumerate(zip(secrets, tokens)):
            # An empty event is refused as such once its sender is known.
            expect(server.ask("POST", "/v1/signals/revenuecat", {"event": {}}, key="no",
                              headers={"Authorization": secret}),
                   400 if index == number else 401, what + ": secret %d" % index)
            expect(server.ask("GET", "/v1/customers/ann", key=token),
                   200 if index == number else 401, what + ": token %d" % index)

    customers = write(0)
    with Server(material, words=["--stores", stores, "--customer-keys", customers]) as server:
        require(server, 0, "at first")
        write(1)
        # The control: nothing is read before it is asked for.
        require(server, 0, "before SIGHUP")
        hang_up(server, AGAIN)
        require(server, 1, "after SIGHUP")
        material.write("renewed.json", "{")
        hang_up(server, UNUSABLE)
        require(server, 1, "after SIGHUP with a file that is none")
        for secret in secrets:
            if secret in server.log_text():
                raise Fault("SIGHUP: the log holds a secret")
        server.stop()
    return 4


def check_certificate(material):
    """A connection that begins after SIGHUP sees the new certificate."""
    served = certificate(material, "served")
    first, second = material.path("first.pem"), certificate(material, "second")
    copy(served[0], first)

    def trusted(server, authority):
        return subprocess.run(
            ["curl", "--silent", "--max-time", "10", "--cacert", authority,
             server.url + "/healthz"],
            capture_output=True, text=True, timeout=30, check=False).returncode == 0

    words = ["--tls-certificate", served[0], "--tls-key", served[1]]
    with Server(material, words=words) as server:
        if not trusted(server, first) or trusted(server, second[0]):
            raise Fault("SIGHUP: another certificate at first")
        for source, target in zip(second, served):
            copy(source, target)
        if not trusted(server, first):
            raise Fault("SIGHUP: the certificate changes before it is asked for")
        hang_up(server, AGAIN)
        if trusted(server, first) or not trusted(server, second[0]):
            raise Fault("SIGHUP: the old certificate is shown")
        server.stop()
    return 5


def run(tool, material, report, seed):
    """All of it."""
    report.figures["renewal"] = {
        "trust": check_trust(material), "certificate": check_certificate(material)}

"""SIGHUP: stores, customers' keys and certificate are read again while the server goes on."""

import json
import shutil
import signal
import subprocess
import time

from harness.material import Signer
from harness.report import Fault
from harness.server import expect

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


def check_trust(material):
    """A webhook's secret and the keys of customers' tokens: new ones count, old ones no longer."""
    secrets = ["Bearer first-%s" % ("1" * 24), "Bearer second-%s" % ("2" * 24)]
    signers = [Signer() for _ in secrets]
    stores = material.write("renewed.json", json.dumps(
        {"revenueCat": {"authorizationFile": "renewed.txt"}}))
    # The same before and after: the server remembers those that it verified.
    tokens = [signer.token("ann", seconds=600) for signer in signers]

    def write(number):
        material.write("renewed.txt", secrets[number])
        return material.write("renewed.pem", signers[number].public)

    def require(server, number, what):
        for index, (secret, token) in enumerate(zip(secrets, tokens)):
            # An empty event is refused as such once its sender is known.
            expect(server.ask("POST", "/v1/signals/revenuecat", {"event": {}}, key="no",
                              headers={"Authorization": secret}),
                   400 if index == number else 401, what + ": secret %d" % index)
            expect(server.ask("GET", "/v1/customers/ann", key=token),
                   200 if index == number else 401, what + ": token %d" % index)

    customers = write(0)
    with material.server(words=["--stores", stores, "--customer-keys", customers]) as server:
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
    served = material.certificate("served")
    first, second = material.path("first.pem"), material.certificate("second")
    shutil.copyfile(served[0], first)

    def trusted(server, authority):
        return subprocess.run(
            ["curl", "--silent", "--max-time", "10", "--cacert", authority,
             server.url + "/healthz"],
            capture_output=True, text=True, timeout=30, check=False).returncode == 0

    words = ["--tls-certificate", served[0], "--tls-key", served[1]]
    with material.server(words=words) as server:
        if not trusted(server, first) or trusted(server, second[0]):
            raise Fault("SIGHUP: another certificate at first")
        for source, target in zip(second, served):
            shutil.copyfile(source, target)
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

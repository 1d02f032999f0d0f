"""Where webhooks are sent: never to a network of one's own without leave, and over TLS to who is vouched for."""

import contextlib
import json
import os
import ssl
import subprocess
import time

from harness.report import Fault, say
from harness.server import Server, expect
from receiver import LATE_SECONDS, SETTLE_SECONDS, Receiver, until

# What of a private address is refused at once; and, with a port in place of %d, when it is to be sent to.
REFUSED = [
    "http://127.0.0.1:%d/", "http://localhost:%d/", "http://example.com/", "ftp://127.0.0.1:%d/",
    "//127.0.0.1:%d/", "https://", "https:///hooks", "https://user@localhost:%d/", "https://user:word@localhost:%d/",
    "https://localhost:%d/#part", "https://localhost:0/", "https://localhost:65536/", "https://lo cal:%d/",
    "https://localhost:%d/\u00e4", "https://localhost/" + 2048 * "a", "javascript:alert(1)", ""]
KEPT_FROM = [
    "https://127.0.0.1:%d/", "https://localhost:%d/", "https://[::1]:%d/", "https://[::ffff:127.0.0.1]:%d/",
    "https://169.254.169.254/", "https://10.0.0.1/", "https://0.0.0.0:%d/", "https://[::]:%d/",
    "https://[::ffff:7f00:1]:%d/", "https://[64:ff9b::7f00:1]:%d/", "https://[fd00::1]:%d/", "https://LOCALHOST:%d/"]
# Other ways to write one, some of which are no address at all.
DISGUISED = [
    "https://localhost.:%d/", "https://127.1:%d/", "https://2130706433:%d/", "https://0x7f000001:%d/",
    "https://0177.0.0.1:%d/", "https://127.0.0.1.:%d/", "https://%%6c%%6fcalhost:%d/",
    "https://127.0.0.1%%00.example.com:%d/", "https://[::1%%25lo]:%d/", "https://\\127.0.0.1:%d/",
    "https://example.com\\@127.0.0.1:%d/"]
# Who vouches for others, as the command finds them.
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
USAGE = 64


def check(tool, material, _):
    """Without leave nothing is sent to a network of one's own, however its address is written."""
    ledger = tool.make()
    with contextlib.ExitStack() as stack:
        four = stack.enter_context(Receiver())
        listeners = [four]
        if os.path.exists("/proc/net/if_inet6"):
            listeners.append(stack.enter_context(Receiver(host="::1", port=four.port)))
        server = stack.enter_context(Server(tool, ledger))

        def add(url):
            return server.ask("POST", "/v1/webhooks", {"url": url % four.port if "%" in url else url})

        for url in REFUSED:
            status, _, value = add(url)
            if status != 400 or value["code"] not in ("invalid_value", "out_of_range"):
                raise Fault("the address %s: %d %s" % (url[:60], status, value))
        for wish in ({"types": ["no.such"]}, {"types": "*"}, {"environments": ["mars"]}, {"catalogChanges": 1},
                     {"secret": "whsec_AAAA"}):
            expect(server.ask("POST", "/v1/webhooks", {"url": "https://example.com/", **wish}), 400, str(wish))
        kept = []
        for url in KEPT_FROM + DISGUISED:
            status, _, webhook = add(url)
            if status == 400 and url in DISGUISED:
                continue
            kept.append(expect((status, None, webhook), 201, "the address " + url)["id"])
            tried = expect(server.ask("POST", "/v1/webhooks/%s/test" % kept[-1]), 200, "a test of " + url)
            faults = ["private_address"] + ["unresolved"] * (url in DISGUISED)
            if tried["taken"] or tried["status"] is not None or tried["fault"] not in faults:
                raise Fault("the address %s: %s" % (url, tried))
        time.sleep(SETTLE_SECONDS)
        server.grant("kept", 0)
        for one in kept:
            path = "/v1/webhooks/%s/deliveries" % one
            until(lambda: any(d["fault"] in ("private_address", "unresolved") for d in expect(
                server.ask("GET", path), 200, "deliveries")["deliveries"]),
                LATE_SECONDS, "a delivery to a private address is listed")
        if any(one.connections for one in listeners):
            raise Fault("somebody connected to a private address")
        check_leave(tool, ledger, server, four)
    return {"refused": len(REFUSED), "keptFrom": len(kept), "tls": check_tls(tool, material, ledger),
            "plantedAndFound": 1}


def check_leave(tool, ledger, server, receiver):
    """The control: with leave a connection to the same address is made, and counted."""
    done = tool.run(ledger, "webhooks", "add", receiver.url, "--json")
    if done.returncode != USAGE:
        raise Fault("without leave the command adds %s: %d" % (receiver.url, done.returncode))
    url = "https://127.0.0.1:%d/" % receiver.port
    webhook = tool.ask_json(ledger, "webhooks", "add", url, "--private-address")
    tried = expect(server.ask("POST", "/v1/webhooks/%s/test" % webhook["id"]), 200, "a test with leave")
    if tried["fault"] != "connection" or receiver.connections != 1:
        raise Fault("control: with leave %d connections are made: %s" % (receiver.connections, tried))
    tool.ask(ledger, "webhooks", "remove", webhook["id"])


def check_tls(tool, material, ledger):
    """Over TLS who is vouched for under their name is sent to, and nobody else; how many were tried, and what not."""
    certificate, key = material.certificate("receiver")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # In a file system of the command's own the certificate stands among those that vouch.
    trusting = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', certificate, ROOTS]
    can_trust = os.path.exists(ROOTS) and subprocess.run(
        trusting + ["true"], capture_output=True, check=False).returncode == 0
    figures = {"tried": 0}
    if not can_trust:
        figures["skipped"] = "%s is not there, or `unshare -rm` is not allowed: nobody is vouched for" % ROOTS
        say("webhooks, addresses: skipped over TLS, %s" % figures["skipped"])
    for host, prefix, fault in (("127.0.0.1", (), "connection"), ("127.0.0.1", trusting, None),
                                ("127.0.0.2", trusting, "connection")):
        if prefix and not can_trust:
            continue
        with Receiver(host=host, context=context) as receiver:
            name = "localhost" if host == "127.0.0.1" else host
            webhook = tool.ask_json(ledger, "webhooks", "add", "https://%s:%d/" % (name, receiver.port),
                                    "--private-address")
            receiver.secrets = [webhook["secret"]]
            done = tool.run(ledger, "webhooks", "test", webhook["id"], "--json", prefix=prefix)
            found = json.loads(done.stdout)
            receiver.require_good()
            if found["fault"] != fault or len(receiver.messages) != (fault is None) or not receiver.connections:
                raise Fault("TLS with %s: %s, %d messages, %s" % (
                    host, found, len(receiver.messages), receiver.errors))
            tool.ask(ledger, "webhooks", "remove", webhook["id"])
            figures["tried"] += 1
    return figures

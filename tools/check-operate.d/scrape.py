"""What a running server exposes at /metrics, with a sample of everything: scrape.py FOLDER

The stores are simulated ones. Leaves in FOLDER `metrics`, as a key of the scope `metrics` reads it, and what the
program says of itself: `openapi.json`, `status.json`, `help.json` and `settings.json`.
"""

import json
import os
import re
import subprocess
import sys
import time

from harness.command import Tool, binary
from harness.report import Fault
from harness.server import Server

SCENARIOS = ["renewal_chain", "play_grace_recovered", "revenuecat_renewals"]
# As often as can be set. The audits at odds, as one that meets the other waits a minute.
OFTEN = {
    "ENTITLE_AUDIT_SECONDS": "2", "ENTITLE_AUDIT_FULL_SECONDS": "3", "ENTITLE_CHECKPOINT_SECONDS": "1",
    "ENTITLE_DRIFT_SECONDS": "1", "ENTITLE_PRODUCT_SECONDS": "1", "ENTITLE_STORE_SECONDS": "1",
    "ENTITLE_REPORT_SECONDS": "1", "ENTITLE_BACKFILL_SECONDS": "10", "ENTITLE_TRUST_SECONDS": "1",
    "ENTITLE_ARCHIVE_SECONDS": "1"}
PATIENCE = 90


def read(server, path, key=None):
    status, _, answer = server.ask("GET", path, key=key)
    if status != 200:
        raise Fault("%s: %d: %s" % (path, status, str(answer)[:200]))
    return answer


def ask_for_unknown(server):
    """Asks for a purchase that the store does not know, until the store has said so: on a busy machine it may not answer."""
    end = time.monotonic() + PATIENCE
    while True:
        _, _, answer = server.ask("POST", "/v1/customers/nobody/purchases", {
            "store": "play_store", "packageName": "com.example.app", "productId": "month", "purchaseToken": "unknown"})
        if 'code="not_found"' in read(server, "/metrics"):
            return
        if time.monotonic() > end:
            raise Fault("the store was not asked for an unknown purchase: %s" % str(answer)[:300])
        time.sleep(0.5)


def tell(tool, server, stores):
    """Signals that are taken, one that is not, a question that a store cannot answer, and a key that nobody has."""
    for scenario in SCENARIOS:
        tool.ask_plain("simulate", "trigger", scenario, "--out", stores, "--port", "0", "--deliver-to", server.url)
    server.ask("POST", "/v1/signals/app-store", {"signedPayload": "a.b.c"})
    ask_for_unknown(server)
    server.ask("GET", "/v1/status", key="nobody's")
    for said in ({"type": "started"}, {"type": "failed", "errorCode": "NETWORK_ERROR", "stages": {"store": 12}}):
        server.ask("POST", "/v1/customers/buyer/flows", {"flowId": "f1", **said})


# Families of reports, which are not there at all until the job has seen the flows.
SHOWN_WITH_SAMPLES = {"entitle_stage_seconds"}


def missing(metrics, status):
    """The families without a sample, and the jobs that did not run."""
    families = set(re.findall(r"^# TYPE (\S+)", metrics, re.M))
    sampled = {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"^(\w+)[ {]", metrics, re.M)}
    return sorted((families | SHOWN_WITH_SAMPLES) - sampled) + [job["name"] for job in status["jobs"] if not job["lastRunAt"]]


def scraped(server, key):
    """Metrics and status, once there is something of everything."""
    end = time.monotonic() + PATIENCE
    while True:
        metrics, status = read(server, "/metrics", key), read(server, "/v1/status")
        lacking = missing(metrics, status)
        if not lacking:
            return metrics, status
        if time.monotonic() > end:
            raise Fault("in %d s the server has not shown a sample of %s: %s" % (
                PATIENCE, ", ".join(lacking), server.log_text()[-300:]))
        time.sleep(0.2)


def main(folder):
    tool = Tool(binary(), folder)
    stores, ledger = os.path.join(folder, "stores"), os.path.join(folder, "ledger")
    simulator = subprocess.Popen(
        [tool.binary, "simulate", "serve", "--out", stores, "--port", "0", "--json",
         *(word for scenario in SCENARIOS for word in ("--scenario", scenario))],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=tool.environment, cwd=folder)
    try:
        # It says where it listens once the configuration is written.
        if not simulator.stdout.readline():
            raise Fault("the simulated stores end with %d" % simulator.wait())
        configuration = os.path.join(stores, "stores.json")
        tool.ask(ledger, "init", "--catalog", os.path.join(stores, "catalog.json"))
        # How complete a source is says a backfill alone.
        tool.ask(ledger, "sync", "--backfill", "--stores", configuration)
        tool.ask(ledger, "backup", os.path.join(folder, "backup"))
        monitor = tool.key(ledger, "metrics")
        kept = {"ENTITLE_ARCHIVE": os.path.join(folder, "archive")}
        with Server(tool, ledger, words=["--stores", configuration], environment={**OFTEN, **kept}) as server:
            tell(tool, server, stores)
            metrics, status = scraped(server, monitor)
            description = read(server, "/openapi.json")
            server.stop()
    finally:
        simulator.kill()
        simulator.wait()
        simulator.stdout.close()
    answers = {
        "metrics": metrics, "status.json": json.dumps(status), "openapi.json": json.dumps(description),
        "help.json": tool.ask_plain("--experimental-dump-help").decode(),
        "settings.json": tool.ask_plain("config", "show", "--json").decode()}
    for name, text in answers.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])

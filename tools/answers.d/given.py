"""What is asked: the ledger of tools/history, its keys, and the files that are handed in."""

import json
import os
import shutil
import subprocess

from harness.command import Tool
from harness.history import write_history
from harness.material import Material
from harness.report import Fault

# When the history is imported, and when it is asked: 15 October 2025, at noon and an hour later.
MADE = 1_760_529_600_000
ASKED = MADE + 3_600_000
SCOPES = ("ingest", "read", "write", "support", "audit", "admin", "metrics")
CUSTOMERS = ("alice", "bob", "erin", "nobody")


class Given:
    """A directory; what is in it is never changed, questions are asked of a copy."""

    def __init__(self, folder):
        self.folder = folder

    def make(self, tool):
        """Makes it, unless it is there."""
        if not os.path.isdir(self.folder):
            making = Tool(tool.binary, self.folder)
            making.environment = {**tool.environment, "CLOCK_STANDS": str(MADE)}
            write_history(self.folder)
            self.record(making)
            self.secrets(making)
        with open(os.path.join(self.folder, "secrets.json"), encoding="utf-8") as file:
            self.__dict__.update(json.load(file))
        tool.environment["CLOCK_STANDS"] = str(ASKED)

    def record(self, tool):
        for words in (
                ["init"], ["import", "events.ndjson", "--preserve-recorded-time"],
                ["import", "webhooks.ndjson"],
                ["catalog", "publish", "catalog-july.json", "--effective", "2025-07-01"],
                ["checkpoint"]):
            tool.ask("ledger", *words)

    def secrets(self, tool):
        """Keys of the server, customers' tokens, signed messages."""
        material = Material(tool)
        tokens = {customer: material.signer.token(customer, 86_400, MADE // 1000)
                  for customer in CUSTOMERS}
        tokens["expired"] = material.signer.token("alice", 1, 1)
        keys = {scope: tool.key("ledger", scope) for scope in SCOPES}
        signed = {name: material.app_store.transaction(
            transactionId=name, originalTransactionId=name, productId="pro.month")
            for name in ("9001", "9002", "9003")}
        for name, text in signed.items():
            material.write("transaction-%s.jws" % name, text)
        notification = material.app_store.notifications(1, product="pro.month")[0].decode()
        decision = json.loads(tool.ask(
            "ledger", "show", "alice", "--at", "2025-04-15", "--json"))["token"]
        material.write("checkpoint-old.txt", tool.ask("ledger", "checkpoint").decode())
        material.write("catalog-bad.json", json.dumps({
            "tiers": ["free", "free"], "features": [{"id": "x", "level": "gold"}, {"id": 7}],
            "products": [{"id": "p", "kind": "rented", "unlocks": {"tier": "none"}}], "more": 1}))
        material.write("transaction-bad.jws", signed["9001"][:-3] + "AAA")
        material.write("secrets.json", json.dumps({
            "keys": keys, "tokens": tokens, "signed": signed, "notification": notification,
            "decision": decision, "revenuecat": material.revenuecat_secret}))

    def copy(self, tool, name):
        """A copy to ask or to change, as the working directory of a tool of its own."""
        path = os.path.join(tool.scratch, name)
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run(["cp", "-r", "--sparse=always", self.folder, path], check=True)
        other = Tool(tool.binary, path)
        other.environment = tool.environment
        if not os.path.isdir(os.path.join(path, "ledger")):
            raise Fault("%s holds no ledger" % self.folder)
        return other

"""The histories that ledgers are made of."""

import json
import os
import random
import subprocess
import sys

from harness.start import ROOT

CATALOG = {
    "tiers": ["free", "plus", "pro"],
    "features": [
        {"id": "open", "level": "free"}, {"id": "sync", "level": "plus"},
        {"id": "export", "level": "pro"}, {"id": "archive"}],
    "products": [
        {"id": "month", "kind": "auto_renewable", "unlocks": {"tier": "plus"}},
        {"id": "year", "kind": "auto_renewable", "unlocks": {"all": True}},
        {"id": "life", "kind": "non_consumable", "unlocks": {"features": ["archive"]}}],
    "trials": [{"id": "week", "days": 7, "tier": "pro"}],
}
QUESTION_TIME = "2025-06-15T00:00:00.000Z"


class History:
    """An endless history: event n is a function of the seed and n alone."""

    KINDS = [
        ("customer.claimed", 3), ("purchase.completed", 5), ("purchase.renewed", 5),
        ("verification.passed", 5), ("verification.failed", 1), ("purchase.expired", 2),
        ("revocation.refunded", 1), ("grant.given", 2), ("grant.withdrawn", 1),
        ("trial.started", 1), ("customer.linked", 1), ("usage.recorded", 2),
        ("signal.noted", 1),
    ]

    def __init__(self, seed, customers=40):
        self.seed = seed
        self.customers = customers

    def customer(self, number):
        return "customer-%d-%d" % (self.seed, number)

    def event(self, index):
        r = random.Random("%d/%d" % (self.seed, index))
        kinds, weights = zip(*self.KINDS)
        kind = r.choices(kinds, weights)[0]
        # New names keep coming, so that the vault is written throughout.
        number = r.randrange(self.customers + index // 4)
        product = r.choice(["month", "month", "year", "life"])
        purchase = "app_store/%d-%d" % (self.seed, number)
        transaction = "t%d-%d" % (number, r.randrange(4))
        month = r.randrange(1, 12)
        event = {
            "specversion": "1.0", "id": "event-%d-%d" % (self.seed, index), "source": "faults",
            "type": kind,
            "time": "2025-%02d-%02dT%02d:00:00.000Z" % (
                month, r.randrange(1, 29), r.randrange(24)),
        }
        later = "2025-%02d-28T23:00:00.000Z" % (month + 1)
        if kind.split(".")[0] in ("purchase", "verification", "revocation", "signal"):
            event["subject"] = "purchase/" + purchase
        else:
            event["subject"] = "customer/" + self.customer(number)
        if kind == "customer.claimed":
            data = {"purchase": purchase}
        elif kind in ("purchase.completed", "purchase.renewed"):
            data = {"transactionId": transaction, "productId": product, "productKind":
                    "non_consumable" if product == "life" else "auto_renewable"}
            if product != "life":
                data["expiresAt"] = later
            data.update(priceMicros=4_990_000, currencyCode="EUR")
        elif kind.startswith("verification"):
            data = {"method": "store_api"}
        elif kind == "grant.given":
            data = {"grantId": "g%d" % r.randrange(3), "tier": "pro", "expiresAt": later}
        elif kind == "grant.withdrawn":
            data = {"grantId": "g%d" % r.randrange(3)}
        elif kind == "trial.started":
            data = {"trialId": "week"}
        elif kind == "customer.linked":
            data = {"alias": "anonymous-%d" % index}
        elif kind == "usage.recorded":
            data = {"useId": "u%d" % index, "featureId": "export", "amount": r.randrange(1, 9)}
        elif kind == "signal.noted":
            data = {"name": "test", "detail": "x" * r.randrange(400)}
        else:
            data = {}
        event["data"] = data
        return event

    def line(self, index):
        return (json.dumps(self.event(index), separators=(",", ":")) + "\n").encode()

    def lines(self, indexes):
        return b"".join(self.line(index) for index in indexes)


def write_history(folder):
    """Writes the nine months of the demonstration into a folder (`tools/history`)."""
    subprocess.run([os.path.join(ROOT, "tools", "history"), folder], stdout=sys.stderr, check=True)

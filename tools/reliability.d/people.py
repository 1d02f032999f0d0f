"""Customers with ids that stand nowhere else, and the search for those ids in files."""

import base64
import json
import os
import random
import re


class People:
    """Customers with ids that stand nowhere else."""

    def __init__(self, seed, count):
        source = random.Random("people/%d" % seed)
        # Digits, as the App Store's transaction ids are.
        self.tokens = ["%016d" % source.randrange(10 ** 16) for _ in range(count)]

    def customer(self, number):
        return "who-" + self.tokens[number]

    def ids(self, number):
        return [kind + self.tokens[number] for kind in ("who-", "buy-", "tx-", "also-", "ev-")]

    def lines(self, number):
        token, time = self.tokens[number], "2025-01-01T00:00:00.000Z"
        purchase = "app_store/buy-" + token

        def event(name, kind, subject, data):
            return {"specversion": "1.0", "id": "ev-%s-%s" % (token, name), "source": "faults",
                    "type": kind, "subject": subject, "time": time, "data": data}

        events = [
            event("a", "purchase.completed", "purchase/" + purchase, {
                "transactionId": "tx-" + token, "productId": "life",
                "productKind": "non_consumable", "priceMicros": 4_990_000, "currencyCode": "EUR"}),
            event("b", "verification.passed", "purchase/" + purchase, {"method": "store_api"}),
            event("c", "customer.claimed", "customer/who-" + token, {"purchase": purchase}),
            event("d", "customer.linked", "customer/who-" + token, {"alias": "also-" + token}),
            event("e", "grant.given", "customer/also-" + token, {
                "grantId": "tx-" + token, "tier": "pro", "reason": "tx-" + token}),
        ]
        return "".join(json.dumps(event) + "\n" for event in events)


def everybody(people):
    """The lines of all of them, as bytes."""
    return "".join(people.lines(number) for number in range(len(people.tokens))).encode()


def tokens_in(content):
    """What may be a token in some bytes: as text, as UTF-16, in hexadecimal, in Base64."""
    found = {match[1].decode() for match in TEXT.finditer(content)}
    found |= {match[1].decode("utf-16-le") for match in WIDE.finditer(content)}
    found |= {bytes.fromhex(match[1].decode()).decode() for match in HEXADECIMAL.finditer(content)}
    for match in BASE64.finditer(content):
        run = match[0].translate(URL_SAFE)
        for start in range(4):
            part = run[start:start + (len(run) - start) // 4 * 4]
            found |= {inner[1].decode() for inner in TEXT.finditer(base64.b64decode(part))}
    return found


TEXT = re.compile(rb"(?=([0-9]{16}))")
WIDE = re.compile(rb"(?=((?:[0-9]\0){16}))")
HEXADECIMAL = re.compile(rb"(?=((?:3[0-9]){16}))")
BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{20,}")
URL_SAFE = bytes.maketrans(b"-_", b"+/")
CODINGS = {
    "text": str.encode, "UTF-16": lambda text: text.encode("utf-16-le"),
    "hexadecimal": lambda text: text.encode().hex().encode(),
    "Base64": lambda text: base64.b64encode(b"." + text.encode())}


def found(root, tokens, words=()):
    """The files under a folder that hold one of these tokens, however coded, or one of these words."""
    hits = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = file.read()
            if tokens & (tokens_in(content) | tokens_in(path.encode())) or any(
                    word in content for word in words):
                hits.append(path)
    return hits

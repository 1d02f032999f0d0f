"""The feed read by the reference SDK of CloudEvents, its stream cut and resumed, and snapshots verified by
PyJWT (rows 8.5, 10.1, Z10): other people's programs, unmodified."""

import json
import random
import threading
import time

import jwt
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from harness.report import Fault
from harness.server import expect

EVENTS = 200
CUTS = 20
# What a stream may take to tell what was just recorded.
STREAM_SECONDS = 20


def read(texts):
    """Events as the SDK reads them, which refuses what is no CloudEvent."""
    return [JSONFormat().read(CloudEvent, text) for text in texts]


def check_pages(server, size):
    """All of the log, page by page, each event by the SDK."""
    found, path = [], "/v1/events?limit=17"
    while path:
        status, headers, value = server.ask("GET", path)
        if status != 200 or headers.get_content_type() != "application/cloudevents-batch+json":
            raise Fault("a page: %d %s" % (status, str(value)[:200]))
        for event in read(json.dumps(event) for event in value):
            extensions = event.get_attributes()
            if "recordedtime" not in extensions or len(extensions["sequence"]) != 20:
                raise Fault("an event lacks an extension: %s" % extensions)
            found.append(int(extensions["sequence"]))
        link = headers.get("Link")
        path = "/v1/events" + link.split(">")[0][1:] if link else None
    if found != list(range(size)):
        raise Fault("the pages hold %d events of %d, or in another order" % (len(found), size))
    # The control: what is no CloudEvent is refused.
    for broken in ('{"specversion":"1.0","id":"1","source":"s"}', '{"specversion":"1.0","id":"1","type":"t"}'):
        try:
            read([broken])
        except Exception:  # noqa: BLE001, S110: the SDK's own, whichever
            continue
        raise Fault("the SDK takes what is no event: %s" % broken)


def lines(response):
    """Events of a stream: id and data."""
    identity = None
    while line := response.readline():
        text = line.decode().rstrip("\n")
        if text.startswith("id: "):
            identity = text[4:]
        elif text.startswith("data: ") and identity:
            yield identity, text[6:]
            identity = None


def check_stream(server, seed, size):
    """Each event once and in order, over connections that are cut at random, while more are recorded."""
    total = size + EVENTS

    def record():
        for number in range(EVENTS):
            server.grant("streamed-%d" % (number % 7), 10_000 + number)

    writer = threading.Thread(target=record, daemon=True)
    writer.start()
    chance, found, last, cuts = random.Random(seed), [], None, 0
    deadline = time.monotonic() + 60
    while len(found) < total:
        if time.monotonic() > deadline:
            raise Fault("the stream told %d events of %d" % (len(found), total))
        connection = server.connect(STREAM_SECONDS)
        headers = {"Authorization": "Bearer " + server.key}
        if last:
            headers["Last-Event-ID"] = last
        connection.request("GET", "/v1/events/stream" + ("" if last else "?after=0"), headers=headers)
        until = chance.randint(1, max(1, total // CUTS * 2))
        for count, (identity, data) in enumerate(lines(connection.getresponse()), 1):
            read([data])
            last = identity
            found.append(int(identity))
            if count >= until or len(found) + 1 >= total:
                break
        connection.close()
        cuts += 1
        if len(found) + 1 >= total:
            break
    writer.join(60)
    if found != list(range(1, total)):
        raise Fault("the stream has a gap or a repeat: %s" % str(found)[:300])
    return cuts


def check_snapshot(server):
    """A snapshot by PyJWT and the published keys; whatever is changed in one does not verify."""
    expect(server.ask("POST", "/v1/customers/holder/grants", {"grantId": "g", "tier": "pro"}), 200, "a grant")
    status, _, text = server.ask("GET", "/v1/customers/holder/snapshot")
    _, _, keys = server.ask("GET", "/.well-known/jwks.json")
    if status != 200:
        raise Fault("a snapshot: %d %s" % (status, str(text)[:200]))
    known = jwt.PyJWKSet.from_dict(keys)
    header = jwt.get_unverified_header(text)

    def claims(token):
        return jwt.decode(token, known[header["kid"]].key, algorithms=["EdDSA"],
                          options={"require": ["iss", "sub", "iat", "exp"]})

    found = claims(text)
    shown = expect(server.ask("GET", "/v1/customers/holder"), 200, "the state")
    if found["sub"] != "holder" or found["tier"] != "pro" or shown["tier"] != "pro" or header["typ"] != "entitlements+jwt":
        raise Fault("the snapshot claims something else: %s" % str(found)[:300])
    # The control: no other byte verifies.
    refused = 0
    for place in range(0, len(text) - 2, max(1, len(text) // 50)):
        changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1:]
        try:
            claims(changed)
        except jwt.PyJWTError:
            refused += 1
            continue
        raise Fault("a changed snapshot verifies, at byte %d" % place)
    return refused


def settled(server):
    """The log's size once all accesses are noted, which comes a moment behind the answers."""
    size = None
    while size != (size := server.ask("GET", "/v1/events?limit=1")[1]["Ledger-Sequence"]):
        time.sleep(1)
    return size


def run(tool, material, report, seed):
    with material.server() as server:
        for number in range(60):
            server.grant("customer-%d" % (number % 5), number)
        size = settled(server)
        check_pages(server, int(size))
        cuts = check_stream(server, seed, int(size))
        refused = check_snapshot(server)
        server.require_alive()
    report.figures["feeds"] = {"pages": int(size), "streamed": EVENTS, "cuts": cuts, "changedSnapshots": refused}
